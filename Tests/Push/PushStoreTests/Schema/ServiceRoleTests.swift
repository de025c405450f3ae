import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestRepository
import Testing

@testable import PushStore

@Suite("A service with a role of its own", .uuidsOnly)
struct ServiceRoleTests {
  /// How the role got its rights: before another `tacet migrate`, to everything in the schema and without
  /// `tacet.grant_service`, or by it.
  enum Age: CaseIterable { case before, after }

  /// A migrated database that the service uses as another role than its owner.
  static func database(_ age: Age) async throws -> TestDatabase {
    var database = try await TestDatabase.migrated()
    let rights = try Self.documented()
    let grant = "select tacet.grant_service('$role');"
    try #require(rights.contains(grant))
    database.role = try await makeRole(
      in: database, age == .after ? rights : rights.replacing(grant, with: Self.everything))
    if age == .before { try await database.apply(Repository.install) }
    return database
  }

  private static let everything = """
    grant usage on schema tacet to $role;
    grant select, insert, update, delete on all tables in schema tacet to $role;
    grant execute on all functions in schema tacet to $role;
    """

  /// What the example for a role of the service does after it has made the role.
  private static func documented() throws -> String {
    let text = try Repository.text("db/examples/service_role.sql")
    let begin = try #require(text.range(of: "create role tacet_service login;\n"))
    return String(text[begin.upperBound...]).replacing("tacet_service", with: "$role")
  }

  /// Runs statements as the role, one by one, none of which may have an effect.
  static func refused(_ statements: [String], in database: TestDatabase) async throws {
    for statement in statements {
      try await withSessions(database, 1) { sessions, reactor in
        let error = await #expect(throws: PostgresError.self, "\(statement)") {
          try await sessions[0].run(statement, on: reactor)
        }
        #expect(error?.sqlState == "42501", "\(statement)")
      }
    }
  }

  /// What only the owner runs: `tacet migrate` and `tacet adopt`; and what reads a table of an extension.
  private static let others: Set<String> = ["adopt_database", "examine_webhook_queue", "record_checksums"]

  @Test("every statement may be run", arguments: Age.allCases)
  func statements(_ age: Age) async throws {
    let database = try await Self.database(age)
    try await withSessions(database, 1) { sessions, reactor in
      for statement in PushStatements.all where !Self.others.contains(statement.name) {
        let types = statement.typeNames
        let nulls = statement.parameterTypes.map { _ in "null" }.joined(separator: ", ")
        let parameters = types.isEmpty ? ("", "") : (" (\(types))", " (\(nulls))")
        try await sessions[0].run(
          """
          deallocate all; prepare s\(parameters.0) as \(statement.sql); explain execute s\(parameters.1)
          """, on: reactor)
      }
    }
  }

  @Test("messages and pushes of servers are claimed and recorded, everything is pruned", arguments: Age.allCases)
  func claims(_ age: Age) async throws {
    let chat = try await Chat(in: try await Self.database(age))
    try await chat.register("aa")
    try await chat.send()
    let submission = PushSubmission(userID: chat.reader, kind: "news", title: "News", body: "", idempotencyKey: "k")
    let pushes = try await withStore(chat.database) { store, reactor in
      [try await store.submit(submission, on: reactor), try await store.submit(submission, on: reactor)]
    }
    #expect(pushes.map { $0?.isRepeated } == [false, true])
    let events = try await claim(chat.database)
    #expect(Set(events.map(\.subject.kind)) == ["message", "news"])
    try await chat.record(events) { RecipientOutcome(userID: $0, decision: .sent) }
    #expect(try await chat.database.sql("select count(*) from tacet.push_log where decision = 'sent'") == "2")
    try await withStore(chat.database) { store, reactor in
      for table in PrunedTable.allCases {
        _ = try await store.prune(table.rawValue, olderThan: .seconds(1), on: reactor)
      }
    }
  }

  @Test("devices, preferences, looks, reads and taps are noted", arguments: Age.allCases)
  func reports(_ age: Age) async throws {
    let chat = try await Chat(in: try await Self.database(age))
    try await chat.send()
    try await chat.report(PresenceReport(.looking))
    #expect(try await chat.presence(of: chat.reader) == "seen")
    try await withStore(chat.database) { store, reactor in
      let device = RegisteredDevice(token: "aa")
      #expect(try await store.register(device, of: chat.reader, devicesMax: 10, on: reactor) == .registered)
      #expect(try await store.put(UserPreferences(disabledKinds: ["x"]), of: chat.reader, on: reactor))
      #expect(try await store.preferences(of: chat.reader, on: reactor).disabledKinds == ["x"])
      let report = ReadReport(conversationID: chat.id, userID: chat.reader)
      guard case .marked(count: 1, badge: 0, _) = try await store.read(report, isSynced: true, on: reactor) else {
        Issue.record("the message was not read")
        return
      }
      #expect(try await store.recordOpening(UUID(), by: chat.reader, on: reactor) == false)
      #expect(try await store.removeDevice("aa", of: chat.reader, on: reactor))
    }
  }

  @Test("what is watched is the owner's to say, and triggers are the owner's to make", arguments: Age.allCases)
  func reserved(_ age: Age) async throws {
    let database = try await Self.database(age)
    let triggers = try await database.sql(
      "select oid::regprocedure from pg_proc where pronamespace = 'tacet'::regnamespace and prorettype = 'trigger'::regtype"
    )
    #expect(!triggers.isEmpty)
    let made = triggers.split(separator: "\n").map {
      "create temp table t (id uuid); create trigger t after insert on t for each statement execute function \($0)"
    }
    try await Self.refused(
      made + [
        "update tacet.kinds set condition = 'true'", "delete from tacet.kinds",
        "insert into tacet.kinds select (k).* from (select null::tacet.kinds as k) x",
        "select tacet.unwatch('x')", "select tacet.watch('x', 'pg_class', 'now', 'x')",
        "select tacet.grant_service(current_role::regrole)", "select tacet.adopt_database(false)",
        "select webhook_secret from tacet.settings", "update tacet.settings set webhook_url = 'https://evil.example'",
        "update tacet.settings set database_identity = 'x'", "delete from tacet.settings",
        "insert into tacet.default_bodies (name, body) values ('x', 'x')", "delete from tacet.function_files",
        "delete from tacet.host_additions",
      ], in: database)
  }
}
