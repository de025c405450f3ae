public import Postgres
public import PushKinds
public import Reactors

/// What is known of an event's pushes.
public enum EventStatus: Equatable, Sendable {
  /// The host has no such event.
  case unknown
  /// In the inbox, not yet decided.
  case pending
  /// Decided; empty without recipients. Sorted by user id.
  case decided([RecordedOutcome])
}

/// A recipient's outcome as the ledger has it.
public struct RecordedOutcome: Equatable, Sendable {
  /// The recipient.
  public let userID: HostID

  /// The outcome.
  public let decision: OutcomeDecision

  /// Why, nil for a plain success.
  public let reason: String?

  /// Until when it is held, microseconds since 1970; nil unless it is.
  public let heldUntil: Int64?

  /// Devices for which APNs accepted it.
  public let devicesAccepted: Int

  /// Makes an outcome, for tests and for composing answers.
  public init(userID: HostID, decision: OutcomeDecision, reason: String?, heldUntil: Int64?, devicesAccepted: Int) {
    self.userID = userID
    self.decision = decision
    self.reason = reason
    self.heldUntil = heldUntil
    self.devicesAccepted = devicesAccepted
  }
}

extension PushDatabase {
  /// Returns the state of an event. A message that no trigger has seen is put in the inbox first, unless it is decided.
  public func ingest(_ subject: PushSubject, on reactor: isolated Reactor) async throws(PostgresError) -> EventStatus {
    let rows =
      if subject.kind == MessagePush.name {
        try await pool.query(.ingest(subjectID: subject.id), on: reactor)
      } else {
        try await pool.query(.ingestEvent(subjectID: subject.id, kind: subject.kind), on: reactor)
      }
    return try LedgerRow.status(from: rows)
  }

  /// The state of a known event.
  public func status(of subject: PushSubject, on reactor: isolated Reactor) async throws(PostgresError) -> EventStatus {
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
