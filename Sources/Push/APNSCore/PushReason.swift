/// The `reason` of an APNs answer, kept as it came.
///
/// A string and not an enumeration: Apple adds reasons, and one that is not known yet must be neither lost nor an
/// error. Names and statuses are from "Handling notification responses from APNs" (Apple).
public struct PushReason: RawRepresentable, Hashable, Sendable {
  /// The text as APNs sent it.
  public let rawValue: String

  /// Wraps a text; any is allowed.
  public init(rawValue: String) { self.rawValue = rawValue }
}

extension PushReason: ExpressibleByStringLiteral {
  /// A reason written in the source.
  public init(stringLiteral value: String) { rawValue = value }

  /// Whether the answer speaks against the device token without proving it dead.
  ///
  /// A wrong environment, topic or key brings the same answers for every token, so tokens are set aside only while
  /// other pushes of the same topic and environment succeed.
  public var suspectsDeviceToken: Bool {
    self == "BadDeviceToken" || self == "DeviceTokenNotForTopic"
  }
}
