import Foundation
import Postgres
import TestRepository
import Testing

@testable import PushStore

@Suite("The step from lanes by environment to lanes by route")
struct DispositionMigrationTests {
  /// Everything before the step, and rows in every state.
  private static func before() async throws -> TestDatabase {
    let database = try await TestDatabase.withHostTables()
    for file in Repository.migrations.prefix(7) { try await database.apply(file) }
    try await database.sql(
      """
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, lane, is_claimed)
      select now() + interval '1 h', now(), gen_random_uuid(), gen_random_uuid(), v.kind, v.state, v.lane, v.is_claimed
      from (values
        ('held', 'held', null, false), ('retry', 'retryable', null, false), ('old', 'waiting', 'production', false),
        ('older', 'waiting', 'sandbox', false), ('claimed', 'waiting', 'production', true),
        ('route', 'waiting', 'com.example.app/production', false)
      ) as v (kind, state, lane, is_claimed)
      """)
    return database
  }

  @Test("what waits for a lane of an old name is tried now; a claim keeps its lease, and nothing else is touched")
  func oldLanes() async throws {
    let database = try await Self.before()
    try await database.apply(Repository.migrations[7])
    let rows = try await database.sql(
      "select kind, state, lane, due_at <= now(), retries from tacet.deliveries order by kind")
    #expect(
      rows == """
        claimed|retryable||f|0
        held|held||f|0
        old|retryable||t|0
        older|retryable||t|0
        retry|retryable||f|0
        route|waiting|com.example.app/production|f|0
        """)
  }

  @Test("a claim takes what was freed, though no lane takes pushes")
  func claimable() async throws {
    let database = try await Self.before()
    for file in Repository.migrations[7...] { try await database.apply(file) }
    #expect(Set(try await claim(database).map(\.subject.kind)) == ["old", "older"])
  }

  @Test("what an older service leaves for a lane of an old name afterwards is tried as well")
  func olderService() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, lane)
      select now(), now(), gen_random_uuid(), gen_random_uuid(), v.kind, 'waiting', v.lane
      from (values ('old', 'production'), ('route', 'com.example.app/production')) as v (kind, lane)
      """)
    try await withSessions(database, 1) { sessions, reactor in
      let hour: Int64 = 3_600_000_000
      let rows = try await sessions[0].connection.query(PushStatements.releaseExpired, [hour, Int64(10)], on: reactor)
      #expect(try rows.one().decode(0) as Int64 == 1)
    }
    #expect(try await database.sql("select kind from tacet.deliveries where state = 'waiting'") == "route")
  }

  @Test("a role that may call the functions from before may call the new one, nobody else")
  func roles() async throws {
    let database = try await TestDatabase.withHostTables()
    for file in Repository.migrations.prefix(7) { try await database.apply(file) }
    let service = try await makeRole(in: database, "grant execute on all functions in schema tacet to $role")
    let stranger = try await makeRole(in: database, "grant usage on schema tacet to $role")
    try await database.apply(Repository.migrations[7])
    let function = "'tacet.learn_token_environment(text, text, text, text, timestamptz)'"
    let rights = [service, stranger].map { "has_function_privilege('\($0)', \(function), 'execute')" }
    #expect(try await database.sql("select \(rights[0]), \(rights[1])") == "t|f")
  }

  @Test(
    "where the host keeps its tokens elsewhere or otherwise nothing is learnt, and nothing fails",
    arguments: [
      "alter table push_tokens rename to phones",
      """
      create type place as enum ('production', 'sandbox');
      alter table push_tokens alter column environment type place using environment::place
      """,
    ])
  func otherTokens(_ change: String) async throws {
    let database = try await TestDatabase.withHostTables()
    for file in Repository.migrations.prefix(7) { try await database.apply(file) }
    try await database.sql(change)
    let notices = try await database.apply(Repository.migrations[7])
    #expect(notices.contains("replace tacet.learn_token_environment"))
    #expect(try await database.sql("select tacet.learn_token_environment('aa', 'sandbox', null, null, now())") == "")
  }
}
