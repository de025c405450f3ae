internal import FoundationEssentials
package import Postgres
package import PushRules
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
    let subjects: Set<PushSubject> = Set(try taken.decoded())
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
  var eventAttempts: [Int32] { inboxEvents.map { Int32(clamping: $0.rowAttempts) } }
}

// Of events with work that remains, and with findings about device tokens.
extension RecordColumns {
  var record: StatementCall {
    let (dead, learnt) = (events.flatMap(\.deadTargets), events.flatMap(\.learntEnvironments))
    return .record(
      subjectIDs: subjectIDs, kinds: kinds, userIDs: userIDs, decisions: decisions, reasons: reasons,
      enqueuedMicroseconds: enqueued, claimedMicroseconds: claimed, wokenMicroseconds: woken,
      decidedMicroseconds: decided, acceptedMicroseconds: accepted, devicesAccepted: devicesAccepted,
      attempts: attempts, dueMicroseconds: due, states: remaining, acceptedDevices: acceptedDevices, wokenBy: wokenBy,
      areDeliveries: isDelivery, conversationIDs: conversationIDs, heldMicroseconds: held, lanes: lanes,
      retries: retries, deviceWaits: deviceWaits, logIDs: logIDs, contents: contents, histories: histories,
      eventIDs: eventIDs,
      eventKinds: eventKinds, eventAttempts: eventAttempts, eventsHaveMore: inboxEvents.map(\.hasMore),
      deadTokens: dead.map(\.address), deadReasons: dead.map(\.reason), deadSinceMicroseconds: dead.map(\.invalidSince),
      learntTokens: learnt.map(\.target.address), learntEnvironments: learnt.map(\.environment),
      learntRegisteredEnvironments: learnt.map(\.target.environment), learntRegisteredApps: learnt.map(\.target.app),
      learntReadMicroseconds: learnt.map(\.readAt))
  }

  private var due: [Int64?] { column { outcome, _ in outcome.dueAfterClaim } }
  private var remaining: [String?] { column { outcome, _ in outcome.remaining?.rawValue } }
  // Hexadecimal text, so a comma cannot be part of a mark; an array of arrays of unequal lengths cannot be sent.
  private var acceptedDevices: [String] { column { outcome, _ in outcome.acceptedDevices.joined(separator: ",") } }
  private var isDelivery: [Bool] { column { $1.event.origin == .delivery } }
  private var conversationIDs: IDColumn { IDColumn(column { $1.event.surfaceID }) }
  private var held: [Int64] { column { outcome, _ in outcome.heldFor.wholeMicroseconds } }
  private var lanes: [String?] { column { outcome, _ in outcome.lane } }
  private var deviceWaits: [String?] {
    column { outcome, _ in
      guard !outcome.deviceWaits.isEmpty, let json = try? JSONEncoder().encode(outcome.deviceWaits) else { return nil }
      return String(decoding: json, as: UTF8.self)
    }
  }
  private var retries: [Int64] { column { outcome, _ in Int64(outcome.retries) } }
}

package struct RecordedHold: Equatable, Sendable {
  package let subject: PushSubject

  package let userID: HostID

  package init(subject: PushSubject, userID: HostID) {
    self.subject = subject
    self.userID = userID
  }
}

/// What a review of holds has found.
package struct ReviewedHolds: Equatable, Sendable, Decodable {
  /// Holds that were made due.
  package let released: Int

  /// The oldest running transaction that may change something; without one, the next to begin. Transactions are
  /// numbered in the order in which they first write.
  package let oldestRunning: Int64

  /// The number of the next transaction.
  package let nextToBegin: Int64
}

extension PushDatabase {
  /// Makes those of the holds due about which something was learnt while they were being recorded.
  package func review(
    _ holds: [RecordedHold], on reactor: isolated Reactor
  ) async throws(PostgresError) -> ReviewedHolds {
    try await pool.query(.reviewHolds(holds), on: reactor).one().decoded()
  }

  /// Why the last try of a push to each of these users failed, as the ledger has it; nothing for one that was never tried.
  package func lastFailures(
    of subject: PushSubject, to userIDs: [HostID], on reactor: isolated Reactor
  ) async throws(PostgresError) -> [HostID: String] {
    var reasons: [HostID: String] = [:]
    let call = StatementCall.lastFailures(subjectID: subject.id, kind: subject.kind, userIDs: userIDs)
    for row in try await pool.query(call, on: reactor) {
      reasons[try row.decode("user_id")] = try row.decode("reason", as: String.self)
    }
    return reasons
  }
}

extension StatementCall {
  static func reviewHolds(_ holds: [RecordedHold]) -> StatementCall {
    .reviewHolds(
      subjectIDs: holds.map(\.subject.id), kinds: holds.map(\.subject.kind), userIDs: holds.map(\.userID))
  }
}
