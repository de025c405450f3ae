/// Which of Apple's two push services a listener plays; keys and device tokens belong to one of them.
public enum SimulatedEnvironment: String, CaseIterable, Codable, Sendable {
  /// As `api.push.apple.com`.
  case production
  /// As `api.sandbox.push.apple.com`; its successes carry an `apns-unique-id`.
  case sandbox
}
