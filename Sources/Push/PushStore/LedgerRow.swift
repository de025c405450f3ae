internal import FoundationEssentials
public import Postgres

/// One row of a look-up of an outcome.
enum LedgerRow {
  /// The columns of ``PushStatements/ingest`` and ``PushStatements/outcome``.
  private enum Column: Int {
    case isKnown, isPending, userID, decision, reason, heldUntil, devicesAccepted
  }

  static func status(from rows: PostgresRows) throws(PostgresError) -> EventStatus {
    var outcomes: [RecordedOutcome] = []
    for row in rows {
      guard try row.decode(Column.isKnown.rawValue) else { return .unknown }
      if try row.decode(Column.isPending.rawValue) { return .pending }
      if let outcome = try outcome(of: row) { outcomes.append(outcome) }
    }
    return .decided(outcomes)
  }

  private static func outcome(of row: PostgresRow) throws(PostgresError) -> RecordedOutcome? {
    guard let userID: UUID = try row.decode(Column.userID.rawValue) else { return nil }
    return RecordedOutcome(
      userID: userID,
      decision: try row.decode(Column.decision.rawValue),
      reason: try row.decode(Column.reason.rawValue),
      heldUntil: try row.decode(Column.heldUntil.rawValue),
      devicesAccepted: try row.decode(Column.devicesAccepted.rawValue))
  }
}

/// Stored by its raw value.
extension OutcomeDecision: PostgresScalar {}
