internal import Crypto
internal import FoundationEssentials

/// Tokens that have been verified, on one reactor. A client shows the same one for an hour: then a request costs a look-up.
///
/// Two generations: when the younger is full it becomes the older, and that one is forgotten. So it is bounded without a
/// search, and what is in use stays.
final class VerifiedTokens {
  /// Tokens of a generation. 16,384: two generations on a reactor are about 6 MB, and hold more clients than a reactor has
  /// connections for.
  static let countMax = 16_384

  private struct Entry {
    let token: VerifiedToken
    /// Of the key set that has the key; nil for the shared secret, which does not change.
    let keySetGeneration: Int?
  }

  private let countMax: Int
  private var younger: [SHA256Digest: Entry] = [:]
  private var older: [SHA256Digest: Entry] = [:]

  init(countMax: Int = VerifiedTokens.countMax) { self.countMax = countMax }

  /// How many are remembered.
  var count: Int { younger.count + older.count }

  /// The user of a token, unless it has expired or its key set is another one now.
  /// - Parameter now: Unix seconds.
  func user(of digest: SHA256Digest, now: Double, keySetGeneration: Int?) -> UUID? {
    guard let entry = younger[digest] ?? older[digest] else { return nil }
    guard now < entry.token.expiresAt, entry.keySetGeneration == nil || entry.keySetGeneration == keySetGeneration
    else {
      younger[digest] = nil
      older[digest] = nil
      return nil
    }
    if younger[digest] == nil { remember(entry, digest) }
    return entry.token.user
  }

  /// Remembers a token.
  func insert(_ token: VerifiedToken, _ digest: SHA256Digest, keySetGeneration: Int?) {
    remember(Entry(token: token, keySetGeneration: keySetGeneration), digest)
  }

  private func remember(_ entry: Entry, _ digest: SHA256Digest) {
    if younger.count >= countMax {
      older = younger
      younger = [:]
    }
    older[digest] = nil
    younger[digest] = entry
  }
}
