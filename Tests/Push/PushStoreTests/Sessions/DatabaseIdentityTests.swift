import Foundation
import Postgres
import Reactors
import TestPostgres
import TestReactors
import Testing

@testable import PushStore

@Suite("Copies of a database")
struct DatabaseIdentityTests {
  private static let copied = "update tacet.settings set database_identity = '1/production'"

  private func look(_ database: TestDatabase) async throws -> DatabaseIdentity? {
    try await onConnection(to: database) { try await DatabaseIdentity.look(over: $0, on: $1) }
  }

  @Test("a migrated database knows itself, and one that was copied is foreign")
  func copy() async throws {
    let database = try await TestDatabase.empty()
    try await onReactor {
      try await Migrator.run(
        in: database.configuration, createsHostTables: true, logger: quiet, on: $0
      ) { _, _ in }
    }
    let identity = try #require(try await look(database))
    #expect(identity.noted == identity.actual)
    #expect(identity.actual.hasSuffix("/\(database.name)"))
    try await database.sql(Self.copied)
    #expect(try await look(database)?.isForeign == true)
  }

  @Test("a database is a copy after its own dump was restored over it, and after what the page says of physical copies")
  func restored() async throws {
    let database = try await TestDatabase.empty()
    try await database.migrate()
    #expect(try await look(database)?.isForeign == false)
    try await database.server.restoreInPlace(database.name)
    #expect(try await look(database)?.isForeign == true)
    _ = try await onReactor {
      try await DatabaseIdentity.adopt(keepingWaiting: true, in: database.configuration, logger: quiet, on: $0)
    }
    #expect(try await look(database)?.isForeign == false)
    try await database.sql("update tacet.settings set database_identity = 'a copy'")
    #expect(try await look(database)?.isForeign == true)
  }

  @Test("no session is opened in a copy, until it is adopted, which drops what waits")
  func adopt() async throws {
    let chat = try await Chat()
    try await chat.send()
    let database = chat.database
    try await database.sql(
      """
      \(Self.copied), webhook_url = 'https://production.example', webhook_secret = 'secret';
      with p as (
        insert into tacet.pushes (user_id, kind, title, body) values ('\(chat.reader)', 'news', 'a', 'b'), ('\(chat.reader)', 'old', 'a', 'b')
        returning id, kind
      )
      insert into tacet.inbox (subject_id, kind) select id, kind from p where kind = 'news';
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state)
      values (now(), now(), gen_random_uuid(), '\(chat.reader)', 'message', 'held');
      insert into tacet.trigger_failures (sqlstate, message, subject_ids) values ('XX000', 'x', array[gen_random_uuid()]);
      """)
    var configuration = database.configuration
    configuration.sessionCheck = PushDatabase.ownDatabaseCheck
    try await onReactor { [configuration] reactor in
      let pool = PostgresPool(configuration, size: 1, acquireLimit: .milliseconds(300), logger: quiet)
      pool.start(on: reactor)
      while pool.failure == nil { await reactor.sleep(for: .milliseconds(1)) }
      await #expect(throws: PostgresError.self) {
        try await pool.query(PushStatements.isOwnDatabase, [], on: reactor)
      }
      #expect(pool.failure?.code == .foreignDatabase)
      await pool.close(on: reactor)
      let counts = try await DatabaseIdentity.adopt(
        keepingWaiting: false, in: configuration, logger: quiet, on: reactor)
      let dropped = counts.filter { $0.dropped > 0 }.map { "\($0.table) \($0.dropped)" }
      #expect(dropped == ["pushes 1", "inbox 2", "deliveries 1", "trigger_failures 1"])
    }
    #expect(try await look(database)?.isForeign == false)
    #expect(try await database.sql("select kind from tacet.pushes") == "old")
    #expect(try await database.sql("select count(*) from messages") == "1")
    #expect(try await database.sql("select num_nulls(webhook_url, webhook_secret) from tacet.settings") == "2")
  }

  @Test("a database that has only moved keeps what waits")
  func moved() async throws {
    let chat = try await Chat()
    try await chat.send()
    try await chat.database.sql(Self.copied)
    let counts = try await onReactor {
      try await DatabaseIdentity.adopt(
        keepingWaiting: true, in: chat.database.configuration, logger: quiet, on: $0
      ).count
    }
    #expect(counts == 0)
    #expect(try await look(chat.database)?.isForeign == false)
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "1")
  }
}
