import Postgres
import Testing

@testable import PushStore

/// What the planner believes of the queue is what a vacuum has last seen, and that is nearly always an empty table.
@Suite("Plans of claims")
struct QueuePlanTests {
  enum QueueState: String, CaseIterable, Sendable {
    case fresh, emptied, live, backlog

    /// Statements, each a transaction of its own.
    var statements: [String] {
      switch self {
      case .fresh: []
      case .emptied: [Self.inserting(30_000), "delete from tacet.inbox", "vacuum analyze tacet.inbox"]
      case .live: [Self.inserting(200), "vacuum analyze tacet.inbox"]
      case .backlog: Self.emptied.statements + [Self.inserting(100_000)]
      }
    }

    private static func inserting(_ rows: Int) -> String {
      """
      insert into tacet.inbox (subject_id, kind, conversation_id)
      select gen_random_uuid(), 'message', gen_random_uuid() from generate_series(1, \(rows))
      """
    }
  }

  @Test("new events are read by their availability and nothing is read whole", arguments: QueueState.allCases)
  func plans(_ state: QueueState) async throws {
    let database = try await TestDatabase.migrated()
    for statement in state.statements { try await database.sql(statement) }
    if state == .emptied || state == .backlog {
      let pages = try await database.sql("select relpages >= 500 from pg_class where oid = 'tacet.inbox'::regclass")
      #expect(pages == "t")
    }
    let values = "64, 64, 30000000, 250, 6, '{a/production}', '{64}', 3600000000, 0"
    try await expectLooks(
      of: PushStatements.claimMessages, "64, 30000000, 250, 1000000", on: database, by: ["inbox_fresh_idx"])
    try await expectLooks(
      of: PushStatements.waitingWork, "1000000, '{a/production}'", on: database,
      by: ["inbox_fresh_idx", "inbox_fresh_idx", "inbox_claimed_idx"])
    try await expectLooks(
      of: PushStatements.claim, values, on: database, by: ["inbox_fresh_idx", "inbox_claimed_idx", "inbox_claimed_idx"])
    try await expectLooks(
      of: PushStatements.lease, "64, 64, 30000000, 6, '{a/production}', '{64}', 3600000000, 0", on: database,
      by: ["inbox_fresh_idx", "inbox_claimed_idx", "inbox_claimed_idx"])
  }

  @Test("stored pushes are read by their ids, also while there seem to be none")
  func storedPushes() async throws {
    let database = try await TestDatabase.migrated()
    let plan = try await plan(
      of: PushStatements.claim, "64, 64, 30000000, 250, 6, '{a/production}', '{64}', 3600000000, 0", on: database)
    let looks = plan.split(separator: "\n").filter { $0.contains(" on pushes") }
    // The content of a campaign's and of a server's, and the user.
    #expect(looks.count == 3, "\(plan)")
    #expect(looks.allSatisfy { $0.contains("using pushes_pkey ") }, "\(plan)")
  }

  /// - Parameter indexes: those by which the inbox is read other than by place, in the plan's order.
  private func expectLooks(
    of statement: PostgresStatement, _ values: String, on database: TestDatabase, by indexes: [String]
  ) async throws {
    let plan = try await plan(of: statement, values, on: database)
    let looks = plan.split(separator: "\n").filter { $0.contains(" on inbox ") && !$0.contains("Tid Scan") }
      .filter { !$0.contains("Update on") }
    #expect(looks.count == indexes.count, "\(plan)")
    for (look, index) in zip(looks, indexes) { #expect(look.contains("using \(index) "), "\(plan)") }
    #expect(!plan.contains("Bitmap") && !plan.contains("Seq Scan on inbox"), "\(plan)")
  }

  private func plan(
    of statement: PostgresStatement, _ values: String, on database: TestDatabase
  ) async throws -> String {
    let settings = PushDatabase.serviceSettings.map { "set \($0) = \($1);" }.joined(separator: " ")
    return try await database.sql(
      "\(settings) prepare s (\(statement.typeNames)) as \(statement.sql); explain (costs off) execute s (\(values))")
  }
}
