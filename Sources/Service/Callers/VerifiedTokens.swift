internal import Crypto
internal import FoundationEssentials

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

  /// How many are remembered.
  var count: Int { entries.count }

  /// The user of a token, unless it has expired or its key set has changed.
  /// - Parameter now: Unix seconds.
  func user(of digest: SHA256Digest, now: Double, keySetGeneration: Int?) -> UUID? {
    guard let entry = entries[digest] else { return nil }
    guard now < entry.token.expiresAt, entry.keySetGeneration == nil || entry.keySetGeneration == keySetGeneration
    else {
      entries.forget(digest)
      return nil
    }
    entries.refresh(digest)
    return entry.token.user
  }

  /// Remembers a token.
  func insert(_ token: VerifiedToken, _ digest: SHA256Digest, keySetGeneration: Int?) {
    entries.remember(Entry(token: token, keySetGeneration: keySetGeneration), of: digest)
  }
}
