internal import FoundationEssentials
package import Postgres
internal import PushRules
package import Reactors

extension PushDatabase {
  /// Records decided events, each in one transaction. No subject and recipient may appear twice in `events`.
  ///
  /// A call that throws may have recorded some of them. What is recorded again changes nothing. Parts must hold only
  /// recipients with nothing left to do.
  package func record(_ events: [DecidedEvent], on reactor: isolated Reactor) async throws(PostgresError) {
    try await DecidedEvent.record(events) { call throws(PostgresError) in
      try await self.pool.query(call, on: reactor)
    }
  }
}

extension DecidedEvent {
  typealias Write = (StatementCall) async throws(PostgresError) -> PostgresRows

  /// How often a record is written when a unique constraint refuses it. Once more is enough, unless others write first
  /// again meanwhile.
  private static let writesMax = 4

  /// Records finished events by the small statement. The large one records all others, and those that the small one leaves.
  static func record(_ events: [DecidedEvent], by write: Write) async throws(PostgresError) {
    let finished = events.allSatisfy(\.isFinished) ? events : events.filter(\.isFinished)
    var others = finished.count == events.count ? [] : events.filter { !$0.isFinished }
    if !finished.isEmpty {
      let rows = try await writeAgainIfRefused(RecordColumns(finished).recordFinished, by: write)
      if rows.count < finished.count { others += try left(of: finished, besides: rows) }
    }
    guard !others.isEmpty else { return }
    _ = try await writeAgainIfRefused(RecordColumns(others).record, by: write)
  }

  /// Two who write the first row of one recipient at the same time write the same id. The statement names the constraint
  /// on subject and recipient, so the later of them may be refused by the primary key. Written again it finds the row.
  private static func writeAgainIfRefused(
    _ call: StatementCall, by write: Write
  ) async throws(PostgresError) -> PostgresRows {
    var writes = 1
    while true {
      do throws(PostgresError) {
        return try await write(call)
      } catch {
        guard error.sqlState == .uniqueViolation, writes < writesMax else { throw error }
        writes += 1
      }
    }
  }

  /// Those whose claims are no longer ours.
  private static func left(
    of finished: [DecidedEvent], besides taken: PostgresRows
  ) throws(PostgresError) -> [DecidedEvent] {
    var subjects: Set<PushSubject> = []
    for row in taken { subjects.insert(PushSubject(id: try row.decode("subject_id"), kind: try row.decode("kind"))) }
    return finished.filter { !subjects.contains($0.event.subject) }
  }

  /// Whether nothing more is to be done for it, and nothing was learnt on the way.
  private var isFinished: Bool {
    event.origin == .inbox && purpose != .part && !event.hasMore && deadTargets.isEmpty && learntEnvironments.isEmpty
      && outcomes.allSatisfy { $0.due == nil }
  }
}

/// Decided events as the arrays that `record` and `record_finished` take.
struct RecordColumns {
  let events: [DecidedEvent]
  let inboxEvents: [PushEvent]

  init(_ events: [DecidedEvent]) {
    self.events = events
    inboxEvents = events.compactMap { $0.event.origin == .inbox && $0.purpose != .part ? $0.event : nil }
  }

  var recordFinished: StatementCall {
    .recordFinished(
      subjectIDs: subjectIDs, kinds: kinds, userIDs: userIDs, decisions: decisions, reasons: reasons,
      enqueuedMicroseconds: enqueued, claimedMicroseconds: claimed, wokenMicroseconds: woken,
      decidedMicroseconds: decided, acceptedMicroseconds: accepted, devicesAccepted: devicesAccepted,
      attempts: attempts, wokenBy: wokenBy, logIDs: logIDs, contents: contents, histories: histories,
      eventIDs: eventIDs, eventKinds: eventKinds, eventAttempts: eventAttempts)
  }
}

// Of outcomes.
extension RecordColumns {
  /// By places: a loop over the values themselves would copy each of them for every column.
  func column<Value>(_ value: (_ outcome: RecipientOutcome, _ decided: DecidedEvent) -> Value) -> [Value] {
    var column: [Value] = []
    column.reserveCapacity(events.count)
    for event in events.indices {
      for outcome in events[event].outcomes.indices {
        column.append(value(events[event].outcomes[outcome], events[event]))
      }
    }
    return column
  }

  var subjectIDs: IDColumn { IDColumn(column { $1.event.subject.id }) }
  var kinds: [String] { column { $1.event.subject.kind } }
  var userIDs: IDColumn { IDColumn(column { outcome, _ in outcome.userID }) }
  var decisions: [String] { column { outcome, _ in outcome.decision.rawValue } }
  var reasons: [String?] { column { outcome, _ in outcome.reason } }
  var enqueued: [Int64] { column { $1.event.enqueuedAt } }
  var claimed: [Int64] { column { $1.event.claimedAt } }
  var woken: [Int64] { column { outcome, _ in outcome.wokenMicroseconds } }
  var decided: [Int64] { column { outcome, _ in outcome.decidedMicroseconds } }
  var accepted: [Int64?] { column { outcome, _ in outcome.acceptedMicroseconds } }
  var devicesAccepted: [Int64] { column { outcome, _ in Int64(outcome.acceptedDevices.count) } }
  var attempts: [Int64] { column { Int64($1.event.attempts) } }
  var wokenBy: [String] { column { $1.wokenBy } }
  var logIDs: [UUID] { column { $1.event.logID(of: $0.userID) } }
  var contents: [String?] { column { $1.event.content?.ledgerText } }
  var histories: [String?] {
    events.flatMap { decided in decided.outcomes.map { HistoryEntry($0, of: decided)?.json } }
  }
}

// Of events.
extension RecordColumns {
  var eventIDs: IDColumn { IDColumn(inboxEvents.map { $0.subject.id }) }
  var eventKinds: [String] { inboxEvents.map { $0.subject.kind } }
  var eventAttempts: [Int32] { inboxEvents.map { Int32(clamping: $0.attempts) } }
}
