package import Postgres
package import PushRules
package import Reactors

/// What is known of an event's pushes.
package enum EventStatus: Equatable, Sendable {
  /// The host has no such event.
  case unknown
  /// In the inbox, not yet decided.
  case pending
  /// Decided; empty without recipients. Sorted by user id.
  case decided([RecordedOutcome])
}

/// A recipient's outcome as the ledger has it.
package struct RecordedOutcome: Equatable, Sendable {
  package let userID: HostID

  package let decision: OutcomeDecision

  /// Why, nil for a plain success.
  package let reason: String?

  /// Until when it is held, microseconds since 1970; nil unless it is.
  package let heldUntil: Int64?

  package let devicesAccepted: Int

  /// Makes an outcome, for tests and for composing answers.
  package init(userID: HostID, decision: OutcomeDecision, reason: String?, heldUntil: Int64?, devicesAccepted: Int) {
    self.userID = userID
    self.decision = decision
    self.reason = reason
    self.heldUntil = heldUntil
    self.devicesAccepted = devicesAccepted
  }
}

extension PushDatabase {
  /// Returns the state of an event. A message that no trigger has seen is put in the inbox first, unless it is decided.
  package func ingest(_ subject: PushSubject, on reactor: isolated Reactor) async throws(PostgresError) -> EventStatus {
    let rows =
      if subject.kind == MessagePush.name {
        try await pool.query(.ingest(subjectID: subject.id), on: reactor)
      } else {
        try await pool.query(.ingestEvent(subjectID: subject.id, kind: subject.kind), on: reactor)
      }
    return try LedgerRow.status(from: rows)
  }

  package func status(of subject: PushSubject, on reactor: isolated Reactor) async throws(PostgresError) -> EventStatus
  {
    let rows = try await pool.query(.outcome(subjectID: subject.id, kind: subject.kind), on: reactor)
    return try LedgerRow.status(from: rows)
  }
}

/// One row of a look-up of an outcome.
enum LedgerRow {
  static func status(from rows: PostgresRows) throws(PostgresError) -> EventStatus {
    var outcomes: [RecordedOutcome] = []
    for row in rows {
      guard try row.decode("is_known") else { return .unknown }
      if try row.decode("is_pending") { return .pending }
      if let outcome = try outcome(of: row) { outcomes.append(outcome) }
    }
    return .decided(outcomes)
  }

  private static func outcome(of row: PostgresRow) throws(PostgresError) -> RecordedOutcome? {
    guard let userID: HostID = try row.decode("user_id") else { return nil }
    return RecordedOutcome(
      userID: userID,
      decision: try row.decode("decision"),
      reason: try row.decode("reason"),
      heldUntil: try row.decode("held_until_us"),
      devicesAccepted: try row.decode("devices_accepted"))
  }
}

/// Stored by its raw value.
extension OutcomeDecision: PostgresScalar {}
