internal import PushStore

/// Whether the statements find their rows by index.
enum IndexCheck {
  static let name = "indexes"

  static func judge(queue: [ExaminedIndex], host: [ExaminedIndex]) -> [CheckFinding] {
    let found =
      queue.compactMap { judge($0, verdict: .failure) } + host.compactMap { judge($0, verdict: .warning) }
    return found.isEmpty ? [CheckFinding(name, .ok, "\(queue.count + host.count) present and valid")] : found
  }

  private static func judge(_ index: ExaminedIndex, verdict: CheckFinding.Verdict) -> CheckFinding? {
    switch index.isUsable {
    case true?: return nil
    case false?:
      return CheckFinding(
        name, verdict, "\(index.name) is not valid: a build of it failed or has not ended",
        remedy: "reindex index concurrently \(index.name), in its schema")
    case nil:
      return CheckFinding(
        name, verdict, "\(index.name) is not there",
        remedy: "create it as in db/migrations, concurrently if the table is large")
    }
  }
}

/// Whether the server would run a claim through the indexes.
enum PlanCheck {
  static let name = "claim plan"

  /// A claim must find rows of these by index however large they are; the host's tables are looked at by its functions.
  private static let queueTables = ["inbox", "deliveries", "push_log"]
  private static let hostTables = ["messages", "conversation_participants", "push_tokens", "profiles"]

  static func judge(_ plan: [String]) -> [CheckFinding] {
    let found =
      queueTables.compactMap { judge($0, in: plan, .failure) } + hostTables.compactMap { judge($0, in: plan, .warning) }
    return found.isEmpty ? [CheckFinding(name, .ok, "reads no table whole")] : found
  }

  private static func judge(_ table: String, in plan: [String], _ verdict: CheckFinding.Verdict) -> CheckFinding? {
    let isRead = plan.contains { line in
      guard let scan = line.firstRange(of: "Seq Scan on ") else { return false }
      return line[scan.upperBound...].prefix { $0 != " " } == table
    }
    guard isRead else { return nil }
    return CheckFinding(
      name, verdict, "a claim would read the whole table \(table)",
      remedy: "mend what the indexes check shows; then analyze \(table)")
  }
}
