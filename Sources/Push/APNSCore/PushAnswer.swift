/// What APNs answered to one push.
public struct PushAnswer: Equatable, Sendable {
  /// The HTTP status.
  public let status: Int
  /// Why the push was refused; nil when the body did not say so.
  public let reason: PushReason?
  /// With 410, when APNs found the token no longer valid, in milliseconds since 1970.
  public let timestampMilliseconds: Int64?
  /// The answer's `apns-id`. Ids made by APNs are upper case and have no regular version digit: compare without case,
  /// match answers to requests by stream.
  public let identifier: String?
  /// How long the answer asks to be left alone, bounded by whoever read it; nil when it does not.
  public var retryAfter: Duration?

  /// An answer made of its parts.
  public init(status: Int, reason: PushReason? = nil, timestampMilliseconds: Int64? = nil, identifier: String? = nil) {
    self.status = status
    self.reason = reason
    self.timestampMilliseconds = timestampMilliseconds
    self.identifier = identifier
  }
}
