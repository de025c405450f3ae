/// How long APNs keeps a push that it cannot hand to the device yet: the `apns-expiration` header.
///
/// APNs keeps one stored push per app and device; a newer one usually replaces the older.
public enum PushExpiration: Equatable, Sendable {
  /// One attempt, then forgotten (header value 0). A perishable push: a resend later makes no sense.
  case attemptOnce
  /// Stored and attempted until this wall-clock moment in Unix seconds; a moment in the past is accepted and already
  /// over.
  case until(unixSeconds: Int64)
  /// The header is left out and the service's own policy rules: at most 30 days.
  case servicePolicy

  /// The header value, or nil when the header is left out. A moment before 1970 is written as 0, since APNs refuses a
  /// sign.
  public var headerValue: String? {
    switch self {
    case .attemptOnce: "0"
    case .until(let unixSeconds): String(max(0, unixSeconds))
    case .servicePolicy: nil
    }
  }
}
