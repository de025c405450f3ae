import Foundation
import PushRules
import TestIDs

@testable import Operations
@testable import PushStore

/// Records of one event and one user, put together for a test; all times in microseconds since the commit.
struct Told {
  static let committedAt: Int64 = 1_790_000_000_000_000
  static let subject = HostID(text: "11111111-1111-4111-8111-111111111111")
  static let user = HostID(text: "22222222-2222-4222-8222-222222222222")

  var event: EventFacts
  var recipient = RecipientFacts(userID: Told.user)
  var history: [HistoryEntry] = []

  /// A message that was committed, long ago by now unless said otherwise.
  init(now: Int64 = 3_600_000_000) {
    event = EventFacts(now: Self.committedAt + now, subjectID: Self.subject, kind: "message")
    event.source = .init(createdAt: Self.committedAt, actorID: nil)
    event.enqueuedAt = Self.committedAt
    event.trigger = "O"
    event.watchedSince = Self.committedAt - 1
    event.ledgerSince = Self.committedAt - 1
    event.serviceSeenAt = event.now - 2_000_000
  }

  /// Adds a claim and its record.
  /// - Parameters:
  ///   - at: when it was claimed.
  ///   - due: when it is looked at again, from the claim on.
  mutating func claim(
    _ number: Int = 1, at: Int64 = 2_000, by: String = "7f3a", wokenBy: String = "notify", releasedBy: String? = nil,
    releasedAt: Int64? = nil,
    decision: OutcomeDecision, reason: String? = nil, due: Int64? = nil, remaining: String? = nil,
    attempts: [HistoryEntry.Attempt] = [], _ know: (inout HistoryEntry.Situation) -> Void = { _ in }
  ) {
    var known = HistoryEntry.Situation()
    known.messageAge = .microseconds(at)
    known.deviceCount = 1
    know(&known)
    history.append(
      HistoryEntry(
        claim: number, claimedAt: Self.committedAt + at, instance: by, wokenBy: wokenBy, releasedBy: releasedBy,
        releasedAt: releasedAt.map { Self.committedAt + $0 }, wokenMicroseconds: 800, decidedMicroseconds: 100,
        situation: known, decision: decision, reason: reason,
        dueMicroseconds: due, remaining: remaining, attempts: attempts))
    event.recordedCount = 1
    event.recordedClaims.append(number)
    recipient.ledger = ledger(decision, reason, attempts)
    recipient.delivery = due.map { delivery(remaining ?? "held", dueAt: at + $0, number) }
  }

  private func ledger(
    _ decision: OutcomeDecision, _ reason: String?, _ attempts: [HistoryEntry.Attempt]
  ) -> LedgerFacts {
    let accepted = attempts.first { $0.verdict == "accepted" }
    let claimedAt = history.last?.claimedAt
    return LedgerFacts(
      id: UUID(uuidString: "33333333-3333-8333-8333-333333333333") ?? UUID(), decision: decision, reason: reason,
      enqueuedAt: Self.committedAt, claimedAt: claimedAt, heldUntil: nil,
      sentAt: accepted.flatMap { attempt in claimedAt.map { $0 + attempt.endedMicroseconds } }, wokenBy: nil,
      devicesAccepted: history.flatMap(\.attempts).count { $0.verdict == "accepted" }, attempts: history.count,
      opened: false, openedAt: nil, history: history)
  }

  private func delivery(_ state: String, dueAt: Int64, _ attempts: Int) -> DeliveryFacts {
    DeliveryFacts(
      state: state, dueAt: Self.committedAt + dueAt, isClaimed: false, attempts: attempts, rescues: 0,
      lane: state == "waiting" ? "com.example.app/production" : nil)
  }

  var records: EventRecords {
    EventRecords(
      event: event, recipients: [recipient], instances: [InstanceFacts(id: "7f3a", host: "push-1", pid: 4711)])
  }

  var explanation: EventExplanation { EventExplanation(records) }

  /// The sentence about the user.
  var sentence: String { explanation.recipients[0].summary }

  /// An attempt that APNs answered.
  static func attempt(
    _ verdict: String = "accepted", status: Int? = 200, reason: String? = nil, device: String = "0a1b2c3d4e",
    ended: Int64 = 3_000, isSent: Bool = true
  ) -> HistoryEntry.Attempt {
    HistoryEntry.Attempt(
      mark: device, route: "com.example.app/production", endedMicroseconds: ended, status: status,
      reason: reason,
      identifier: isSent ? "44444444-4444-8444-8444-444444444444" : nil, verdict: verdict)
  }
}
