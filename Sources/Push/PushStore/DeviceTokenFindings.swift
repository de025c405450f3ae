/// A device token that APNs has declared dead.
public struct DeadDeviceToken: Equatable, Sendable {
  /// The token as the host stores it.
  public let token: String

  /// APNs' reason.
  public let reason: String

  /// Since when, microseconds since 1970. A registration after this moment keeps the token alive.
  public let invalidSince: Int64

  /// Notes a dead token.
  public init(token: String, reason: String, invalidSince: Int64) {
    self.token = token
    self.reason = reason
    self.invalidSince = invalidSince
  }
}

/// An environment in which APNs has accepted a device token, after that of its registration had refused it.
public struct LearntEnvironment: Equatable, Sendable {
  /// The token's registration as the claim read it; a registration that says something else meanwhile is not touched.
  public let device: PushDevice

  /// `production` or `sandbox`.
  public let environment: String

  /// When the registration was read, microseconds since 1970. One after this moment is not touched either.
  public let readAt: Int64

  /// Notes where a token works.
  public init(device: PushDevice, environment: String, readAt: Int64) {
    self.device = device
    self.environment = environment
    self.readAt = readAt
  }
}
