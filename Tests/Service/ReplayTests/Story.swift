import Explanations
import PushKinds
import PushRules

@testable import PushStore
@testable import Replay

/// A push whose claims are recorded as the real rules decide them. Times are seconds after the commit.
struct Story {
  /// The commit: 2026-09-21T14:13:20Z.
  static let start: Int64 = 1_790_000_000_000_000

  var policy = SuppressionPolicy(window: .seconds(60), timeToLive: .seconds(3600))
  var kind = "message"
  var surface: String?
  var sounds: Bool?
  var userID = HostID(text: "7")
  var subjectID = HostID(text: "42")
  /// When the ledger is read; the push is then still held if that is its last decision.
  var askedAt = 1_000_000.0
  private(set) var entries: [HistoryEntry] = []

  init() {}

  /// A story of one claim.
  init(_ facts: (inout HistoryEntry.Situation) -> Void) {
    look(at: 0.002, facts)
  }

  static func microseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1_000_000).rounded()) }

  /// A claim, with what it knows.
  /// - Parameters:
  ///   - release: what ended the hold before it, and when.
  ///   - isPutOff: whether the service puts a push off that goes out.
  ///   - kept: why a push does not go out that the rules let go.
  mutating func look(
    at seconds: Double, release: (cause: String, at: Double)? = nil, isPutOff: Bool = false, kept: String? = nil,
    _ facts: (inout HistoryEntry.Situation) -> Void = { _ in }
  ) {
    let age = Self.microseconds(seconds)
    var known = HistoryEntry.Situation()
    known.messageAge = age
    known.deviceCount = 1
    known.window = policy.window.wholeMicroseconds
    known.timeToLive = policy.timeToLive.wholeMicroseconds
    facts(&known)
    var (decision, reason, due, remaining) = (OutcomeDecision.sent, nil as String?, nil as Int64?, nil as String?)
    let isTakingPart = known.isParticipant || known.isDeleted
    switch policy.decision(for: known.recipientSituation) {
    case _ where !isTakingPart: (decision, reason) = (.skipped, "not_participant")
    case .send where isPutOff: (decision, reason, due, remaining) = (.held, "Shutdown", 1_000_000, "retryable")
    case .send: if let kept { (decision, reason) = (.skipped, kept) }
    case .skip(let why): (decision, reason) = (.skipped, why.rawValue)
    case .hold(let wait, let why):
      (decision, reason, due, remaining) = (.held, why.rawValue, wait.wholeMicroseconds, "held")
    }
    entries.append(
      HistoryEntry(
        claim: entries.count + 1, claimedAt: Self.start + age, instance: "i", wokenBy: "notify",
        releasedBy: release?.cause, releasedAt: release.map { Self.start + Self.microseconds($0.at) },
        wokenMicroseconds: 1, decidedMicroseconds: 1, situation: known, decision: decision, reason: reason,
        dueMicroseconds: due, remaining: remaining, attempts: []))
  }

  var push: RecordedPush {
    RecordedPush(
      enqueuedAt: Self.start, subjectID: subjectID, kind: kind, userID: userID,
      decision: entries.last?.decision ?? .failed, history: entries, surface: surface, sounds: sounds,
      askedAt: Self.start + Self.microseconds(askedAt))
  }

  var timeline: PushTimeline { PushTimeline(push) }
}

extension RuleChange {
  /// A change of the limits, in seconds.
  static func limits(window: Int? = nil, timeToLive: Int? = nil) -> RuleChange {
    var change = RuleChange()
    change.window = window.map { .seconds($0) }
    change.timeToLive = timeToLive.map { .seconds($0) }
    return change
  }
}
