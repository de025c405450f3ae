package import PushRules

/// A claimed event whose every recipient has an outcome: ready to be recorded.
package struct DecidedEvent: Sendable {
  package let event: PushEvent

  /// One per recipient of the claim.
  package let outcomes: [RecipientOutcome]

  package private(set) var deadTargets: [DeadTarget]

  package private(set) var learntEnvironments: [LearntEnvironment]

  /// What woke the service: `notify`, `webhook`, `poll` and so on.
  package let wokenBy: String

  package var decider = Decider()

  package var purpose = Purpose.record

  package enum Purpose: Sendable {
    /// The one record of a claim.
    case record
    /// Recipients that APNs has accepted while others are waited for. They are in the ledger, so that no other claim
    /// sends to them again; the event stays claimed, and its record names them once more.
    case part
    /// A record that a crash of the server may have forgotten, once more. Where it has not, nothing changes.
    case again
  }

  package init(
    event: PushEvent, outcomes: [RecipientOutcome], deadTargets: [DeadTarget],
    learntEnvironments: [LearntEnvironment] = [], wokenBy: String
  ) {
    self.event = event
    self.outcomes = outcomes
    self.deadTargets = deadTargets
    self.learntEnvironments = learntEnvironments
    self.wokenBy = wokenBy
  }
}

/// What is to be recorded for one recipient of a claimed event.
package struct RecipientOutcome: Equatable, Sendable {
  /// Work that remains, and so a row in the queue.
  package enum Remaining: String, Sendable {
    /// The rules wait for more to be learnt.
    case held
    /// APNs asked for a later attempt at this push.
    case retryable
    /// The lane takes nothing now; it goes when the lane is back.
    case waiting
  }

  package let userID: HostID

  package var decision: OutcomeDecision

  /// Why, nil for a plain success.
  package var reason: String?

  /// How long to wait before the next look, from ``waitsFromMicroseconds`` on; nil when nothing remains.
  package var due: Duration?

  /// From the claim's date to the moment from which ``due`` counts, in microseconds: the last answer, or zero where the
  /// facts of the claim say how long to wait.
  package var waitsFromMicroseconds: Int64 = 0

  /// What remains; nil exactly when `due` is.
  package var remaining: Remaining?

  /// Targets that have the push by now, by their ``PushTarget/mark``.
  package var acceptedDevices: [String]

  /// The lane that is waited for, at most some words; nil exactly unless `remaining` is `waiting`.
  package var lane: String?

  /// Targets that are not to be tried before their own time, which is later than ``due``; by their ``PushTarget/mark``.
  package var deviceWaits: [String: DeviceWait] = [:]

  /// How long it has been held on purpose before this claim, which does not count towards its expiry.
  package var heldFor = Duration.zero

  /// How often APNs' answers have put it off by now.
  package var retries = 0

  /// From the wake-up to the claim's answer, in microseconds.
  package var wokenMicroseconds: Int64 = 0

  /// From the claim's date to the decision, in microseconds.
  package var decidedMicroseconds: Int64 = 0

  /// From the claim's date to APNs' first acceptance, in microseconds; nil when there was none.
  package var acceptedMicroseconds: Int64?

  /// The recipient as claimed, for the history; nil leaves no entry.
  package var recipient: PushRecipient?

  /// What a message did in its burst, for the history; nil when it was not asked.
  package var fold: HistoryEntry.Fold?

  /// What was tried at the recipient's devices, for the history.
  package var deviceAttempts: [HistoryEntry.Attempt] = []

  /// When to look again, in microseconds from the claim's date on.
  var dueAfterClaim: Int64? {
    due.map { ($0 + .microseconds(waitsFromMicroseconds)).wholeMicroseconds }
  }

  package init(
    userID: HostID, decision: OutcomeDecision, reason: String? = nil, due: Duration? = nil,
    remaining: Remaining? = nil, acceptedDevices: [String] = []
  ) {
    self.userID = userID
    self.decision = decision
    self.reason = reason
    self.due = due
    self.remaining = remaining
    self.acceptedDevices = acceptedDevices
  }
}

/// A target whose service asked for a wait that is longer than the others'.
package struct DeviceWait: Codable, Equatable, Sendable {
  /// When it may be tried again, by the database's clock; microseconds since 1970.
  package let until: Int64

  /// Why it waits, as in the ledger.
  package let reason: String?

  package init(until: Int64, reason: String?) {
    self.until = until
    self.reason = reason
  }
}

/// The four decisions about a recipient's push, as the API and the ledger name them.
package enum OutcomeDecision: String, Sendable {
  /// APNs accepted it for at least one device.
  case sent
  /// It will be looked at again.
  case held
  /// Nothing had to be sent.
  case skipped
  /// It should have been sent and cannot be.
  case failed
}

/// A target that its service has declared dead.
package struct DeadTarget: Equatable, Sendable {
  /// The device token, endpoint or other address as the host stores it.
  package let address: String

  package let reason: String

  /// Since when, microseconds since 1970. A registration after this moment keeps the target alive.
  package let invalidSince: Int64
}

extension DeadTarget {
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
    var copy = self
    (copy.deadTargets, copy.learntEnvironments) = ([], [])
    return copy
  }
}
