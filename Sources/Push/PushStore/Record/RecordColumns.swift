internal import FoundationEssentials
internal import Postgres
internal import PushKinds

/// Decided events as the arrays that `record` and `record_finished` take.
struct RecordColumns {
  private let events: [DecidedEvent]
  private let inboxEvents: [PushEvent]
  private let dead: [DeadDeviceToken]
  private let learnt: [LearntEnvironment]

  init(_ events: [DecidedEvent]) {
    self.events = events
    inboxEvents = events.compactMap { $0.event.origin == .inbox && $0.purpose != .part ? $0.event : nil }
    dead = events.flatMap(\.deadTokens)
    learnt = events.flatMap(\.learntEnvironments)
  }

  var recordFinished: StatementCall {
    .recordFinished(
      subjectIDs: subjectIDs, kinds: kinds, userIDs: userIDs, decisions: decisions, reasons: reasons,
      enqueuedMicroseconds: enqueued, claimedMicroseconds: claimed, wokenMicroseconds: woken,
      decidedMicroseconds: decided, acceptedMicroseconds: accepted, devicesAccepted: devicesAccepted,
      attempts: attempts, wokenBy: wokenBy, logIDs: logIDs, contents: contents, histories: histories,
      eventIDs: eventIDs, eventKinds: eventKinds, eventAttempts: eventAttempts)
  }

  var record: StatementCall {
    .record(
      subjectIDs: subjectIDs, kinds: kinds, userIDs: userIDs, decisions: decisions, reasons: reasons,
      enqueuedMicroseconds: enqueued, claimedMicroseconds: claimed, wokenMicroseconds: woken,
      decidedMicroseconds: decided, acceptedMicroseconds: accepted, devicesAccepted: devicesAccepted,
      attempts: attempts, dueMicroseconds: due, states: remaining, acceptedDevices: acceptedDevices, wokenBy: wokenBy,
      areDeliveries: isDelivery, conversationIDs: conversationIDs, heldMicroseconds: held, lanes: lanes,
      retries: retries, logIDs: logIDs, contents: contents, histories: histories, eventIDs: eventIDs,
      eventKinds: eventKinds, eventAttempts: eventAttempts, eventsHaveMore: inboxEvents.map(\.hasMore),
      deadTokens: dead.map(\.token), deadReasons: dead.map(\.reason), deadSinceMicroseconds: dead.map(\.invalidSince),
      learntTokens: learnt.map(\.device.token), learntEnvironments: learnt.map(\.environment),
      learntRegisteredEnvironments: learnt.map(\.device.environment), learntRegisteredApps: learnt.map(\.device.app),
      learntReadMicroseconds: learnt.map(\.readAt))
  }
}

// Of outcomes.
extension RecordColumns {
  /// By places: a loop over the values themselves would copy each of them for every column.
  private func column<Value>(_ value: (_ outcome: RecipientOutcome, _ decided: DecidedEvent) -> Value) -> [Value] {
    var column: [Value] = []
    column.reserveCapacity(events.count)
    for event in events.indices {
      for outcome in events[event].outcomes.indices {
        column.append(value(events[event].outcomes[outcome], events[event]))
      }
    }
    return column
  }

  private var subjectIDs: [UUID] { column { $1.event.subject.id } }
  private var kinds: [String] { column { $1.event.subject.kind } }
  private var userIDs: [UUID] { column { outcome, _ in outcome.userID } }
  private var decisions: [String] { column { outcome, _ in outcome.decision.rawValue } }
  private var reasons: [String?] { column { outcome, _ in outcome.reason } }
  private var enqueued: [Int64] { column { $1.event.enqueuedAt } }
  private var claimed: [Int64] { column { $1.event.claimedAt } }
  private var woken: [Int64] { column { outcome, _ in outcome.wokenMicroseconds } }
  private var decided: [Int64] { column { outcome, _ in outcome.decidedMicroseconds } }
  private var accepted: [Int64?] { column { outcome, _ in outcome.acceptedMicroseconds } }
  private var devicesAccepted: [Int64] { column { outcome, _ in Int64(outcome.acceptedDevices.count) } }
  private var attempts: [Int64] { column { Int64($1.event.attempts) } }
  private var due: [Int64?] { column { outcome, _ in outcome.dueAfterClaim } }
  private var remaining: [String?] { column { outcome, _ in outcome.remaining?.rawValue } }
  // Hexadecimal text, so a comma cannot be part of a token; an array of arrays of unequal lengths cannot be sent.
  private var acceptedDevices: [String] { column { outcome, _ in outcome.acceptedDevices.joined(separator: ",") } }
  private var wokenBy: [String] { column { $1.wokenBy } }
  private var isDelivery: [Bool] { column { $1.event.origin == .delivery } }
  private var conversationIDs: [UUID?] { column { $1.event.surfaceID } }
  private var held: [Int64] { column { outcome, _ in outcome.heldFor.wholeMicroseconds } }
  private var lanes: [String?] { column { outcome, _ in outcome.lane } }
  private var retries: [Int64] { column { outcome, _ in Int64(outcome.retries) } }
  private var logIDs: [UUID] { column { $1.event.logID(of: $0.userID) } }
  private var contents: [String?] { column { $1.event.content?.ledgerText } }
  private var histories: [String?] { column { HistoryEntry($0, of: $1)?.json } }
}

// Of events.
extension RecordColumns {
  private var eventIDs: [UUID] { inboxEvents.map { $0.subject.id } }
  private var eventKinds: [String] { inboxEvents.map { $0.subject.kind } }
  private var eventAttempts: [Int32] { inboxEvents.map { Int32(clamping: $0.attempts) } }
}
