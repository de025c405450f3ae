internal import PushStore

/// Whether something keeps dead rows of the queue from being cleaned up: looks at the queue then read all of them.
enum SnapshotCheck {
  static let name = "snapshots"

  /// From here on a transaction is long. At 300 messages a second it keeps 90,000 dead rows.
  static let ageFrom = Duration.seconds(300)

  /// From here on a replication slot is behind.
  static let transactionsFrom = 100_000

  static func judge(_ snapshots: [ExaminedSnapshot]) -> [CheckFinding] {
    let found = snapshots.compactMap(judge)
    return found.isEmpty ? [CheckFinding(name, .ok, "none is old, as far as this role may see")] : found
  }

  private static func judge(_ snapshot: ExaminedSnapshot) -> CheckFinding? {
    guard let age = snapshot.age else {
      guard snapshot.transactions >= transactionsFrom else { return nil }
      return CheckFinding(
        name, .warning, "replication slot \(snapshot.name) keeps rows from \(snapshot.transactions) transactions ago",
        remedy: "see whether its standby lives; drop the slot if nobody comes back for it")
    }
    guard age >= ageFrom else { return nil }
    let session = snapshot.processID.map { "session \($0) (\(snapshot.name.isEmpty ? "unnamed" : snapshot.name))" }
    return CheckFinding(
      name, .warning, "\(session ?? snapshot.name) has kept dead rows for \(Words.duration(age))",
      remedy: "end the transaction, and set idle_in_transaction_session_timeout for the host's roles")
  }
}
