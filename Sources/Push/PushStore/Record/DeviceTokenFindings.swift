package import PushRules

/// A target that its service has declared dead.
package struct DeadTarget: Equatable, Sendable {
  /// The device token, endpoint or other address as the host stores it.
  package let address: String

  package let reason: String

  /// Since when, microseconds since 1970. A registration after this moment keeps the target alive.
  package let invalidSince: Int64

  package init(address: String, reason: String, invalidSince: Int64) {
    self.address = address
    self.reason = reason
    self.invalidSince = invalidSince
  }

  /// As the service says, which counts milliseconds since 1970; since the claim without a moment.
  /// - Parameter claimedAt: when the registration was read; microseconds since 1970.
  package init(address: String, reason: String, sinceMilliseconds: Int64?, claimedAt: Int64) {
    self.init(
      address: address, reason: reason, invalidSince: Self.microseconds(sinceMilliseconds, claimedAt: claimedAt))
  }

  /// The service's moment in milliseconds as one of the database's: not before 1970, and not after the registration was read, because
  /// later registrations were not sent to.
  private static func microseconds(_ milliseconds: Int64?, claimedAt: Int64) -> Int64 {
    guard let milliseconds else { return claimedAt }
    let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
    return overflow ? (milliseconds < 0 ? 0 : claimedAt) : max(0, min(product, claimedAt))
  }
}

/// An environment in which APNs has accepted a device token, after that of its registration had refused it.
package struct LearntEnvironment: Equatable, Sendable {
  /// The token's registration as the claim read it; a registration that says something else meanwhile is not touched.
  package let target: PushTarget

  /// `production` or `sandbox`.
  package let environment: String

  /// When the registration was read, microseconds since 1970. One after this moment is not touched either.
  package let readAt: Int64

  package init(target: PushTarget, environment: String, readAt: Int64) {
    self.target = target
    self.environment = environment
    self.readAt = readAt
  }
}

extension DecidedEvent {
  /// The same without what was learnt about targets; nil when nothing was.
  package var withoutFindings: DecidedEvent? {
    if deadTargets.isEmpty, learntEnvironments.isEmpty { return nil }
    var copy = DecidedEvent(event: event, outcomes: outcomes, deadTargets: [], wokenBy: wokenBy)
    copy.decider = decider
    copy.purpose = purpose
    return copy
  }
}
