import Foundation
import Testing

@testable import PushStore

@Suite("The step from lanes by environment to lanes by route")
struct DispositionMigrationTests {
  /// Everything before the step, and rows in every state.
  private static func before() async throws -> TestDatabase {
    let database = try await TestDatabase.empty()
    for file in TestDatabase.migrationFiles.prefix(7) { try await database.apply(file) }
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
    try await database.apply(TestDatabase.migrationFiles[7])
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
    try await database.apply(TestDatabase.migrationFiles[7])
    #expect(Set(try await claim(database).map(\.subject.kind)) == ["old", "older"])
  }

  @Test("where the host keeps its tokens elsewhere nothing is learnt, and nothing fails")
  func otherTokens() async throws {
    let database = try await TestDatabase.empty()
    for file in TestDatabase.migrationFiles.prefix(7) { try await database.apply(file) }
    try await database.sql("alter table push_tokens rename to phones")
    let notices = try await database.apply(TestDatabase.migrationFiles[7])
    #expect(notices.contains("replace tacet.learn_token_environment"))
    #expect(try await database.sql("select tacet.learn_token_environment('aa', 'sandbox', null, null, now())") == "")
  }
}
