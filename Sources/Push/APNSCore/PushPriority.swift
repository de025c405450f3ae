/// How urgently APNs hands a push to the device: the value of the `apns-priority` header.
///
/// It travels in the header only. A `priority` inside `aps` is ignored and the push goes out at the default of 10,
/// which is why no payload type of this module can hold one.
public enum PushPriority: Int, CaseIterable, Sendable {
  /// At once, waking the device if it must.
  case immediate = 10
  /// When the device's power allows; may be batched, throttled or dropped.
  case powerAware = 5
  /// Never wakes the device; may be batched, throttled or dropped.
  case neverWaking = 1

  /// The header value, in decimal digits; constant strings, as one is needed for every push.
  public var headerValue: String {
    switch self {
    case .immediate: "10"
    case .powerAware: "5"
    case .neverWaking: "1"
    }
  }
}
