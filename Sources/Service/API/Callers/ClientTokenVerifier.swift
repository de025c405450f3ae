internal import Cryptography
internal import FoundationEssentials
package import Reactors

/// Verifies clients' tokens: JSON Web Tokens as Supabase Auth and others issue them.
///
/// HS256 by a shared secret, ES256 and RS256 by the keys of a key set; both may be there while a host migrates. The header's
/// `alg` chooses between the two, and every key is used with its own algorithm only, so that no token can have a public key
/// taken for a secret (RFC 8725 section 3.1).
package struct ClientTokenVerifier: ClientVerifier {
  /// The longest token, in bytes. 8 KiB: Supabase's have about one, custom claims included, and header fields of a request
  /// have 16 altogether.
  static let bytesMax = 8 * 1024

  private let requirements: TokenRequirements
  private let secret: VerificationKey?
  private let keySet: RemoteKeySet?
  private let verified: PerReactor<VerifiedTokens>
  private let clock: @Sendable () -> Double

  /// Prepares the verification on these reactors.
  /// - Parameters:
  ///   - secret: of HS256, at least 32 bytes; nil refuses such tokens.
  ///   - keySet: of ES256 and RS256; nil refuses such tokens.
  ///   - clock: Unix seconds.
  package init(
    _ requirements: TokenRequirements, secret: String?, keySet: RemoteKeySet?, reactors: [Reactor],
    clock: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 }
  ) async throws {
    self.requirements = requirements
    self.keySet = keySet
    self.clock = clock
    self.secret = secret.map { .hs256(HMACSHA256(key: Array($0.utf8))) }
    verified = try await PerReactor(reactors) { _, _ in VerifiedTokens() }
  }

  /// The user a token was issued to. What was verified before is not verified again while it holds.
  package func userID(of token: String, on reactor: isolated Reactor) async throws(ClientTokenError) -> String {
    guard token.utf8.count <= Self.bytesMax else { throw .invalid("it is longer than \(Self.bytesMax) bytes") }
    let verified = verified.value(on: reactor)
    let digest = SHA256.hash(Array(token.utf8))
    if let user = verified.user(of: digest, now: clock(), keySetGeneration: keySet?.use()) { return user }
    let parts = try CompactToken(token)
    let (key, generation) = try await key(for: parts.header)
    guard key.hasSigned(parts) else { throw .invalid("its signature is wrong") }
    let found = try requirements.judge(try TokenClaims.read(parts.payload), now: clock())
    verified.insert(found, digest, keySetGeneration: generation)
    return found.user
  }

  /// Judges the header before anything is computed, and finds the key that it names.
  private func key(
    for header: TokenHeader
  ) async throws(ClientTokenError) -> (VerificationKey, generation: Int?) {
    let algorithm = try header.acceptedAlgorithm()
    if algorithm == .hs256 {
      guard let secret else { throw .invalid("its algorithm is not accepted") }
      return (secret, nil)
    }
    guard let keySet else { throw .invalid("its algorithm is not accepted") }
    guard let kid = header.kid else { throw .invalid("it names no key") }
    return try await keySet.key(KeySet.Name(kid: kid, algorithm: algorithm))
  }
}

/// Tokens that have been verified, on one reactor. A client shows the same one for an hour: then a request costs a look-up.
final class VerifiedTokens {
  private struct Entry {
    let token: VerifiedToken
    /// Of the key set that has the key; nil for the shared secret, which does not change.
    let keySetGeneration: Int?
  }

  private var entries: BoundedBook<SHA256Digest, Entry>

  /// - Parameter countMax: tokens of a generation. 16,384: two generations on a reactor are about 6 MB, and hold more clients
  ///   than a reactor has connections for.
  init(countMax: Int = 16_384) { entries = BoundedBook(generationMax: countMax) }

  var count: Int { entries.count }

  /// The user of a token, unless it has expired or its key set has changed.
  /// - Parameter now: Unix seconds.
  func user(of digest: SHA256Digest, now: Double, keySetGeneration: Int?) -> String? {
    guard let entry = entries[digest] else { return nil }
    guard now < entry.token.expiresAt, entry.keySetGeneration == nil || entry.keySetGeneration == keySetGeneration
    else {
      entries.forget(digest)
      return nil
    }
    entries.refresh(digest)
    return entry.token.user
  }

  func insert(_ token: VerifiedToken, _ digest: SHA256Digest, keySetGeneration: Int?) {
    entries.remember(Entry(token: token, keySetGeneration: keySetGeneration), of: digest)
  }
}
