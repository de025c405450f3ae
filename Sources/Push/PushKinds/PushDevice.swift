/// Where a push goes: a device token as the host or an app has stored it, or a broadcast channel.
public struct PushDevice: Equatable, Sendable {
  /// Hexadecimal text of at most `DeviceToken.digitsMax` bytes, or a channel's id; not yet checked.
  public let token: String

  /// `production` or `sandbox`; nil when the token's registration did not say.
  public let environment: String?

  /// The bundle identifier of the app that got the token, not yet checked; nil when its registration did not say.
  public let app: String?

  /// Whether it is a broadcast channel, which is everyone who follows it.
  public let isChannel: Bool

  /// Describes a device token or a channel.
  public init(token: String, environment: String? = nil, app: String? = nil, isChannel: Bool = false) {
    self.token = token
    self.environment = environment
    self.app = app
    self.isChannel = isChannel
  }
}
