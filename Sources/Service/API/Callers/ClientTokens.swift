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

/// A signed token in the compact form of RFC 7515 section 7.1, taken apart: nothing in it is believed yet.
struct CompactToken {
  let header: TokenHeader
  let payload: [UInt8]
  let signature: [UInt8]
  /// What the signature is over: the first two parts as they came.
  let signed: [UInt8]

  init(_ text: String) throws(ClientTokenError) {
    let bytes = Array(text.utf8)
    let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .invalid("it has not three parts") }
    guard let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { throw .invalid("it is not base64url") }
    self.header = try TokenHeader.read(header)
    self.payload = payload
    self.signature = signature
    signed = Array(bytes[..<parts[1].endIndex])
  }
}

/// The header of RFC 7515 section 4, as far as it is obeyed. Keys that a token brings along, or names the place of, are not
/// looked at.
struct TokenHeader: Decodable, Equatable {
  let alg: String
  let kid: String?
  /// Whether there are extensions that must be understood.
  let hasCritical: Bool

  private enum Key: String, CodingKey {
    case alg, kid, crit
  }

  init(from decoder: any Decoder) throws {
    let header = try decoder.container(keyedBy: Key.self)
    alg = try header.decode(String.self, forKey: .alg)
    kid = try header.decodeIfPresent(String.self, forKey: .kid)
    hasCritical = header.contains(.crit)
  }

  /// The algorithm, if a token with this header can be verified at all.
  func acceptedAlgorithm() throws(ClientTokenError) -> VerificationKey.Algorithm {
    guard !hasCritical else { throw .invalid("it has critical extensions") }
    guard let algorithm = VerificationKey.Algorithm(rawValue: alg) else {
      throw .invalid("its algorithm is not accepted")
    }
    return algorithm
  }

  static func read(_ bytes: [UInt8]) throws(ClientTokenError) -> TokenHeader {
    do {
      return try JSONDecoder().decode(TokenHeader.self, from: Data(bytes))
    } catch {
      throw .invalid("its header cannot be read")
    }
  }
}

/// What the claims of a token must say, whichever key signed it.
package struct TokenRequirements: Sendable {
  /// How far clocks may be apart, in seconds: a token is valid so long after its end and before its beginning.
  static let leewaySeconds = 60.0

  /// The audiences of which a token must name one.
  package let audiences: Set<String>

  /// Who must have issued it; nil accepts every issuer whose key is known.
  package let issuer: String?

  /// The one text that all subjects for the same user have; nil for a subject that is no user.
  private let user: @Sendable (_ subject: String) -> String?

  /// - Parameters:
  ///   - audiences: at least one.
  ///   - user: the one text that all subjects for the same user have; nil for a subject that is no user.
  package init(
    audiences: some Collection<String>, issuer: String? = nil, user: @escaping @Sendable (_ subject: String) -> String?
  ) {
    precondition(!audiences.isEmpty, "nobody is the audience")
    self.audiences = Set(audiences)
    self.issuer = issuer
    self.user = user
  }

  /// Whose token it is, and until when it is to be believed.
  /// - Parameter now: Unix seconds.
  func judge(_ claims: TokenClaims, now: Double) throws(ClientTokenError) -> VerifiedToken {
    guard let end = claims.exp else { throw .invalid("it has no end") }
    // RFC 7519 section 4.1.4: not on its end or after it. Section 4.1.5: on its beginning or after it.
    let expiresAt = end + Self.leewaySeconds
    guard now < expiresAt else { throw .invalid("it has expired") }
    guard claims.nbf.map({ now >= $0 - Self.leewaySeconds }) ?? true else { throw .invalid("it is not valid yet") }
    guard !audiences.isDisjoint(with: claims.aud) else { throw .invalid("it is for another audience") }
    guard issuer == nil || claims.iss == issuer else { throw .invalid("somebody else issued it") }
    guard let user = claims.sub.flatMap(user) else { throw .invalid("its subject is not the id of a user") }
    return VerifiedToken(user: user, expiresAt: expiresAt)
  }
}

struct VerifiedToken: Sendable, Equatable {
  let user: String
  /// Unix seconds, exclusive, the leeway included.
  let expiresAt: Double
}

extension ClientTokenError {
  static func invalid(_ detail: String) -> ClientTokenError { ClientTokenError(.invalid, detail) }
}

/// The claims of RFC 7519 that say whose a token is and when it holds. Others are not looked at.
struct TokenClaims: Decodable, Sendable {
  let sub: String?
  let iss: String?
  /// One or several; empty when it is absent.
  let aud: [String]
  /// Unix seconds, with fractions where the issuer writes them.
  let exp: Double?
  let nbf: Double?

  private enum Key: String, CodingKey {
    case sub, iss, aud, exp, nbf
  }

  init(from decoder: any Decoder) throws {
    let claims = try decoder.container(keyedBy: Key.self)
    sub = try claims.decodeIfPresent(String.self, forKey: .sub)
    iss = try claims.decodeIfPresent(String.self, forKey: .iss)
    exp = try claims.decodeIfPresent(Double.self, forKey: .exp)
    nbf = try claims.decodeIfPresent(Double.self, forKey: .nbf)
    aud = try Self.audiences(in: claims)
  }

  /// Reads a payload whose signature is right.
  static func read(_ payload: [UInt8]) throws(ClientTokenError) -> TokenClaims {
    do {
      return try JSONDecoder().decode(TokenClaims.self, from: Data(payload))
    } catch {
      throw .invalid("its claims cannot be read")
    }
  }

  private static func audiences(in claims: KeyedDecodingContainer<Key>) throws -> [String] {
    if let one = try? claims.decodeIfPresent(String.self, forKey: .aud) { return [one] }
    return try claims.decodeIfPresent([String].self, forKey: .aud) ?? []
  }
}
