internal import FoundationEssentials
public import Postgres

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
    guard let userID: UUID = try row.decode("user_id") else { return nil }
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
