public import FoundationEssentials
public import Postgres
public import PushKinds
public import Reactors

extension PushDatabase {
  /// How often a record is written when a unique constraint refuses it. Once more is enough, unless others write first
  /// again meanwhile.
  private static let recordTriesMax = 4

  /// Records decided events, each in one transaction. No subject and recipient may appear twice in `events`.
  ///
  /// A call that throws may have recorded some of them. What is recorded again changes nothing. Parts must hold only
  /// recipients with nothing left to do.
  public func record(_ events: [DecidedEvent], on reactor: isolated Reactor) async throws(PostgresError) {
    try await DecidedEvent.record(events) { call throws(PostgresError) in
      try await self.write(call, on: reactor)
    }
  }

  /// Why the last try of a push to each of these users failed, as the ledger has it; nothing for one that was never tried.
  public func lastFailures(
    of subject: PushSubject, to userIDs: [UUID], on reactor: isolated Reactor
  ) async throws(PostgresError) -> [UUID: String] {
    var reasons: [UUID: String] = [:]
    let call = StatementCall.lastFailures(subjectID: subject.id, kind: subject.kind, userIDs: userIDs)
    for row in try await pool.query(call, on: reactor) {
      reasons[try row.decode("user_id")] = try row.decode("reason", as: String.self)
    }
    return reasons
  }

  /// Two who write the first row of one recipient at the same time write the same id. The statement names the constraint
  /// on subject and recipient, so the later of them may be refused by the primary key. Written again it finds the row.
  private func write(
    _ call: StatementCall, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    var tries = 1
    while true {
      do throws(PostgresError) {
        return try await pool.query(call, on: reactor)
      } catch {
        guard error.sqlState == .uniqueViolation, tries < Self.recordTriesMax else { throw error }
        tries += 1
      }
    }
  }
}

extension DecidedEvent {
  typealias Write = (StatementCall) async throws(PostgresError) -> PostgresRows

  /// Records finished events by the small statement. The large one records all others, and those that the small one leaves.
  static func record(_ events: [DecidedEvent], by write: Write) async throws(PostgresError) {
    let finished = events.allSatisfy(\.isFinished) ? events : events.filter(\.isFinished)
    var others = finished.count == events.count ? [] : events.filter { !$0.isFinished }
    if !finished.isEmpty {
      let rows = try await write(RecordColumns(finished).recordFinished)
      if rows.count < finished.count { others += try left(of: finished, besides: rows) }
    }
    guard !others.isEmpty else { return }
    _ = try await write(RecordColumns(others).record)
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
    event.origin == .inbox && purpose != .part && !event.hasMore && deadTokens.isEmpty && learntEnvironments.isEmpty
      && outcomes.allSatisfy { $0.due == nil }
  }
}
