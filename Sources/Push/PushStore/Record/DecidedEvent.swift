public import PushRules

/// A claimed event whose every recipient has an outcome: ready to be recorded.
public struct DecidedEvent: Sendable {
  /// The event as it was claimed.
  public let event: PushEvent

  /// One per recipient of the claim.
  public let outcomes: [RecipientOutcome]

  /// Tokens found dead on the way.
  public let deadTokens: [DeadDeviceToken]

  /// Tokens that work elsewhere than their registration says.
  public let learntEnvironments: [LearntEnvironment]

  /// What woke the service: `notify`, `webhook`, `poll` and so on.
  public let wokenBy: String

  /// Who decided, and by which limits; for the history.
  public var decider = Decider()

  /// What its record is for.
  public var purpose = Purpose.record

  /// What a record is for.
  public enum Purpose: Sendable {
    /// The one record of a claim.
    case record
    /// Recipients that APNs has accepted while others are waited for. They are in the ledger, so that no other claim
    /// sends to them again; the event stays claimed, and its record names them once more.
    case part
    /// A record that a crash of the server may have forgotten, once more. Where it has not, nothing changes.
    case again
  }

  /// Joins a claim and its outcomes.
  public init(
    event: PushEvent, outcomes: [RecipientOutcome], deadTokens: [DeadDeviceToken],
    learntEnvironments: [LearntEnvironment] = [], wokenBy: String
  ) {
    self.event = event
    self.outcomes = outcomes
    self.deadTokens = deadTokens
    self.learntEnvironments = learntEnvironments
    self.wokenBy = wokenBy
  }

  /// The same without what was learnt about device tokens; nil when nothing was.
  public var withoutTokenFindings: DecidedEvent? {
    if deadTokens.isEmpty, learntEnvironments.isEmpty { return nil }
    var copy = DecidedEvent(event: event, outcomes: outcomes, deadTokens: [], wokenBy: wokenBy)
    copy.decider = decider
    copy.purpose = purpose
    return copy
  }
}

/// Who decides, and by which limits.
public struct Decider: Equatable, Sendable {
  /// The process, as `tacet.instances` has it; some letters and digits.
  public let instance: String

  /// The limits of the rules.
  public let policy: SuppressionPolicy

  /// Joins them.
  public init(instance: String = "", policy: SuppressionPolicy = SuppressionPolicy()) {
    self.instance = instance
    self.policy = policy
  }
}

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
