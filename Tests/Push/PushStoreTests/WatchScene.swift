import Foundation
import PushRules
import TestIDs

/// Lists of tasks in a test's database; a task that is added is told to its list's two members.
struct WatchScene: Sendable {
  let database: TestDatabase
  let list = HostID.new()
  let actor = HostID.new()
  let reader = HostID.new()

  /// Tables, people and a watch of the kind `task_added`.
  /// - Parameter arguments: further named arguments of the watch, in SQL.
  static func tasks(_ arguments: String? = nil, title: String = "{actor} added {note}") async throws -> WatchScene {
    let scene = WatchScene(database: try await TestDatabase.migrated())
    try await scene.database.sql(
      """
      create table lists (id uuid primary key, member_ids uuid[]);
      create table tasks (
        id uuid primary key default gen_random_uuid(), list_id uuid, by_id uuid, note text, done_at timestamptz
      );
      insert into profiles (id, name) values ('\(scene.actor)', 'Ada'), ('\(scene.reader)', 'Ben');
      insert into lists values
        ('\(scene.list)', '{\(scene.actor),\(scene.reader),\(scene.reader),NULL}');
      create function members(subject_id uuid) returns setof uuid language sql stable as
        'select unnest(l.member_ids) from public.lists l join public.tasks t on t.list_id = l.id where t.id = subject_id';
      create function unqualified(subject_id uuid) returns setof uuid language sql stable as 'select id from lists'
      """)
    try await scene.watch(arguments, title: title)
    return scene
  }

  /// Watches tasks.
  /// - Parameter arguments: named arguments that take the place of those given here, in SQL.
  func watch(
    _ arguments: String? = nil, kind: String = "task_added", title: String = "{actor} added {note}"
  ) async throws {
    var named = [
      "kind": "'\(kind)'", "source": "'tasks'", "recipients": "'members'", "title": "'\(title)'", "body": "'{note}!'",
      "actor": "'by_id'", "surface": "'list_id'", "surface_kind": "'list'", "surface_table": "'lists'",
    ]
    let given = arguments ?? ""
    for name in named.keys where " \(given)".contains(" \(name) =>") { named[name] = nil }
    let list = named.sorted { $0.key < $1.key }.map { "\($0.key) => \($0.value)" } + (given.isEmpty ? [] : [given])
    try await database.sql("select tacet.watch(\(list.joined(separator: ", ")))")
  }

  /// Adds a task, as the host does.
  /// - Parameter note: an SQL expression.
  @discardableResult
  func add(note: String) async throws -> HostID {
    let task = HostID.new()
    try await database.sql(
      "insert into tasks (id, list_id, by_id, note) values ('\(task)', '\(list)', '\(actor)', \(note))")
    return task
  }
}
