import Foundation
import Postgres
import PushRules
import TestIDs
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
    let task = HostID.new()
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

  @Test("an update of many rows waits for a locked inbox once, and no event of it is lost")
  func lockedInboxForMany() async throws {
    let scene = try await WatchScene.tasks("fires_on => 'update of note'")
    try await scene.database.sql("insert into tasks (list_id) select '\(scene.list)' from generate_series(1, 100)")
    try await withSessions(scene.database, 1) { sessions, reactor in
      try await sessions[0].run("begin; lock table tacet.inbox in access exclusive mode", on: reactor)
      try await scene.database.sql("update tasks set note = 'x'")
      try await sessions[0].run("rollback", on: reactor)
    }
    #expect(try await Self.failures(scene.database) == "task_added|100|55P03")
  }

  @Test("watching again passes readers and stops at writers; what fails changes nothing", arguments: [false, true])
  func busy(isUnwatched: Bool) async throws {
    let scene = try await WatchScene.tasks()
    let watched = "select k::text from tacet.kinds k"
    let before = try await scene.database.sql(watched)
    try await withSessions(scene.database, 1) { sessions, reactor in
      try await sessions[0].run("begin; update public.tasks set note = 'x'", on: reactor)
      await #expect(throws: (any Error).self) {
        if isUnwatched {
          try await scene.database.sql("select tacet.unwatch('task_added')")
        } else {
          try await scene.watch(title: "New")
        }
      }
      #expect(try await scene.database.sql(watched) == before)
      try await sessions[0].run("rollback; begin; select from public.tasks", on: reactor)
      if !isUnwatched { try await scene.watch(title: "New") }
      try await sessions[0].run("rollback", on: reactor)
    }
    if !isUnwatched { #expect(try await scene.database.sql("select title from tacet.kinds") == "New") }
  }

  @Test("watching another table leaves no trigger on the former one")
  func otherTable() async throws {
    let scene = try await WatchScene.tasks()
    try await scene.database.sql("create table chores (like tasks)")
    try await scene.watch("source => 'chores'")
    let tables = "select distinct tgrelid::regclass from pg_trigger where tgname like 'tacet%task_added'"
    #expect(try await scene.database.sql(tables) == "chores")
  }

  @Test(
    "a role with rights to everything in our schema says nothing of what our triggers run",
    arguments: [
      "update tacet.kinds set condition = 'public.witness()'", "delete from tacet.kinds",
      """
      insert into tacet.kinds (
        source, kind, surface_kind, id_column, recipients, condition, title, body, unnamed_actor, placeholders
      )
      values ('t', 'x', 'x', 'id', 'x', 'public.witness()', 'x', '', '', '{}')
      """,
      "select tacet.watch('x', 't', 'members', 'x', condition => 'public.witness()')",
      "select tacet.unwatch('task_added')",
    ])
  func everyRight(_ attempt: String) async throws {
    let scene = try await WatchScene.tasks("condition => 'new.note is null or new.note = ''Tea'''")
    let kinds = try await scene.database.sql("select k::text from tacet.kinds k")
    let role = try await makeRole(
      in: scene.database,
      """
      grant usage on schema tacet to $role; grant all on all tables in schema tacet to $role;
      grant execute on all functions in schema tacet to $role
      """)
    try await withSessions(scene.database, 1) { sessions, reactor in
      let session = sessions[0]
      try await session.run(
        "set search_path = public, pg_temp; set role \(role); create temp table t (id uuid default gen_random_uuid())",
        on: reactor)
      do {
        try await session.run(attempt, on: reactor)
      } catch let error as PostgresError {
        #expect(error.sqlState == "42501")
      }
      #expect(try await scene.database.sql("select k::text from tacet.kinds k") == kinds)
    }
  }

  @Test("a trigger of ours on another table than the kind's does nothing")
  func strangeTable() async throws {
    let scene = try await WatchScene.tasks()
    try await scene.database.sql(
      """
      create table strange (like tasks including defaults);
      create trigger t after insert on strange referencing new table as changed
      for each statement execute function tacet.enqueue_watched('task_added');
      create trigger d after delete on strange referencing old table as previous
      for each statement execute function tacet.release_unwatched('task_added')
      """)
    let held = """
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state)
      select now() + '1 h', now(), id, gen_random_uuid(), 'task_added', 'held' from strange
      """
    try await scene.database.sql("insert into strange (note) values ('x'); \(held); delete from strange")
    let found =
      "select (select count(*) from tacet.inbox), (select count(*) from tacet.deliveries where due_at > now())"
    #expect(try await scene.database.sql(found) == "0|1")
    #expect(try await Self.failures(scene.database) == "")
  }

  @Test("a wake-up that fails leaves the event in the inbox", .uuidsOnly)
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
