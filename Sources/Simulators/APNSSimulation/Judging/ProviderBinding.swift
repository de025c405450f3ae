/// What a connection is tied to by the provider tokens it has carried.
///
/// The first good token binds it to a team and a kind of key; after that a token may be replaced by another one only
/// every 20 minutes. Source: "Establishing a token-based connection to APNs" (Apple).
public struct ProviderBinding: Sendable {
  /// How long a connection keeps a provider token before it may bring another, in seconds.
  public static let updateIntervalSeconds: Int64 = 20 * 60

  private var firstKey: ProviderKey?
  private var tokenText: String?
  private var tokenSince = WallInstant(microseconds: 0)

  /// A connection that has carried nothing yet.
  public init() {}

  /// Takes a token that is good in itself.
  ///
  /// A refused replacement changes nothing: the token in use stays good.
  mutating func admit(_ token: ProviderToken, now: WallInstant) throws(Refusal) {
    if let firstKey {
      guard firstKey.team == token.key.team else { throw .invalidProviderToken }
      guard firstKey.mayShareConnection(with: token.key) else { throw .forbidden("UnrelatedKeyIdInToken") }
    }
    if let tokenText, tokenText != token.text {
      guard now.microseconds - tokenSince.microseconds >= Self.updateIntervalSeconds * 1_000_000 else {
        throw .tooManyProviderTokenUpdates
      }
    }
    if tokenText != token.text { (tokenText, tokenSince) = (token.text, now) }
    if firstKey == nil { firstKey = token.key }
  }
}
