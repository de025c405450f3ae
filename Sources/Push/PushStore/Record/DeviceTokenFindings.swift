public import PushKinds

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

  /// As APNs says, which counts milliseconds since 1970; since the claim without a moment.
  /// - Parameter claimedAt: when the registration was read; microseconds since 1970.
  public init(token: String, reason: String, sinceMilliseconds: Int64?, claimedAt: Int64) {
    self.init(
      token: token, reason: reason, invalidSince: Self.microseconds(sinceMilliseconds, claimedAt: claimedAt))
  }

  /// APNs' moment in milliseconds as one of the database's: not before 1970, and not after the registration was read, because
  /// later registrations were not sent to.
  private static func microseconds(_ milliseconds: Int64?, claimedAt: Int64) -> Int64 {
    guard let milliseconds else { return claimedAt }
    let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
    return overflow ? (milliseconds < 0 ? 0 : claimedAt) : max(0, min(product, claimedAt))
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

extension DecidedEvent {
  /// The same without what was learnt about device tokens; nil when nothing was.
  public var withoutTokenFindings: DecidedEvent? {
    if deadTokens.isEmpty, learntEnvironments.isEmpty { return nil }
    var copy = DecidedEvent(event: event, outcomes: outcomes, deadTokens: [], wokenBy: wokenBy)
    copy.decider = decider
    copy.purpose = purpose
    return copy
  }
}
