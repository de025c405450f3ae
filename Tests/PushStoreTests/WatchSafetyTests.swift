import Foundation
import Testing

@testable import PushStore

@Suite("Watched tables: the host comes first")
struct WatchSafetyTests {
  private static func failures(_ database: TestDatabase) async throws -> String {
    try await database.sql("select kind, cardinality(subject_ids), sqlstate from tacet.trigger_failures")
  }

  @Test("a role without any right on our schema inserts, updates and deletes", arguments: ["insert", "update of note"])
  func rights(_ firesOn: String) async throws {
    let scene = try await WatchScene.tasks("fires_on => '\(firesOn)'")
    let role = "r" + UUID().uuidString.lowercased().filter { $0 != "-" }
    try await scene.database.sql("create role \(role); grant all on tasks to \(role)")
    try await scene.database.sql(
      """
      set role \(role);
      insert into tasks (list_id, by_id, note) values ('\(scene.list)', '\(scene.actor)', 'x');
      update tasks set note = 'y';
      delete from tasks
      """)
    #expect(try await scene.database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await Self.failures(scene.database) == "")
    try await scene.database.sql("drop owned by \(role); drop role \(role)")
  }

  @Test("a condition that fails is counted, and the host's statement goes through")
  func failingCondition() async throws {
    let scene = try await WatchScene.tasks("condition => '1 / length(new.note) > 0'")
    try await scene.add(note: "''")
    #expect(try await scene.database.sql("select count(*) from tasks") == "1")
    #expect(try await Self.failures(scene.database) == "task_added|0|22012")
  }

  @Test("a locked inbox holds an insert up for a moment only; the service finds the event by its kind")
  func lockedInbox() async throws {
    let scene = try await WatchScene.tasks()
    let task = UUID()
    try await withSessions(scene.database, 1) { sessions, reactor in
      try await sessions[0].run("begin; lock table tacet.inbox in access exclusive mode", on: reactor)
      try await scene.database.sql("insert into tasks (id, list_id) values ('\(task)', '\(scene.list)')")
      try await sessions[0].run("rollback", on: reactor)
    }
    #expect(try await Self.failures(scene.database) == "task_added|1|55P03")
    let count = try await withStore(scene.database) { try await $0.enqueueMissed(rowsMax: 10, on: $1) }
    #expect(count == 1)
    #expect(try await claim(scene.database).map(\.subject) == [PushSubject(id: task, kind: "task_added")])
  }

  @Test("a wake-up that fails leaves the event in the inbox")
  func failingWake() async throws {
    let scene = try await WatchScene.tasks()
    try await scene.database.sql(
      """
      update tacet.settings set listening_until = now() + interval '1 h';
      create or replace function tacet.wake(first_subject_id uuid) returns void language plpgsql as
        'begin raise exception ''no''; end'
      """)
    try await scene.add(note: "'Tea'")
    #expect(try await scene.database.sql("select kind from tacet.inbox") == "task_added")
    #expect(try await Self.failures(scene.database) == "task_added|0|P0001")
  }
}
