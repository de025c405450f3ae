import Foundation
import TestIDs
import Testing

@testable import PushRules
@testable import PushStore

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

@Suite("Watched kinds")
struct WatchTests {
  @Test("an insert makes an event with its words, its surface, and everybody but the actor, each once")
  func insert() async throws {
    let scene = try await WatchScene.tasks()
    let task = try await scene.add(note: "'Tea'")
    let events = try await claim(scene.database)
    let event = try #require(events.first)
    #expect(events.count == 1)
    #expect(event.subject == PushSubject(id: task, kind: "task_added"))
    #expect(event.message == nil)
    let surface = SurfaceID(kind: "list", id: scene.list)
    #expect(event.watchedRow == WatchedRowPush(title: "Ada added Tea", body: "Tea!", surface: surface))
    #expect(event.recipients.map(\.userID) == [scene.reader])
    #expect(event.recipients.map(\.isParticipant) == [true])
    #expect(event.recipients.map(\.situation.isDeleted) == [false])
  }

  @Test("a statement of many rows makes an event of each that meets the condition, and wakes once")
  func condition() async throws {
    let scene = try await WatchScene.tasks("condition => 'new.note <> ''quiet'''")
    let statement = """
      insert into tasks (list_id, by_id, note)
      select '\(scene.list)', '\(scene.actor)', case when n % 2 = 0 then 'loud' else 'quiet' end
      from generate_series(1, 10) n
      """
    #expect(try await notifications(of: statement, in: scene.database) == 1)
    #expect(try await scene.database.sql("select kind, count(*) from tacet.inbox group by kind") == "task_added|5")
    #expect(
      try await scene.database.sql("select count(*) from tacet.inbox where conversation_id <> '\(scene.list)'") == "0")
  }

  @Test("an update of the column makes an event when the condition holds; others do not")
  func update() async throws {
    let scene = try await WatchScene.tasks(
      "fires_on => 'update of done_at', condition => 'old.done_at is null and new.done_at is not null'")
    let task = try await scene.add(note: "'Tea'")
    for assignment in [
      "note = 'x'", "done_at = done_at", "done_at = now()", "done_at = '2020-01-01'", "done_at = null",
    ] {
      try await scene.database.sql("update tasks set \(assignment)")
      let count = try await scene.database.sql("select count(*) from tacet.inbox where subject_id = '\(task)'")
      #expect(count == (assignment.contains("note") || assignment.contains("= done") ? "0" : "1"), "\(assignment)")
    }
  }

  @Test(
    "an update of many rows makes an event of each whose column changed and that meets the condition, and wakes once",
    .uuidsOnly)
  func updateOfMany() async throws {
    let scene = try await WatchScene.tasks("fires_on => 'update of note', condition => 'new.note <> ''quiet'''")
    for note in ["'a'", "'b'", "null", "'c'", "'quiet'"] { try await scene.add(note: note) }
    let statement = """
      update tasks set note = case note when 'a' then 'quiet' when 'c' then 'd' when 'b' then 'b' else 'e' end,
        done_at = now()
      """
    #expect(try await notifications(of: statement, in: scene.database) == 1)
    let told = "select string_agg(t.note, ',' order by t.note) from tacet.inbox i join tasks t on t.id = i.subject_id"
    #expect(try await scene.database.sql(told) == "d,e,e")
    let statements = [
      "update tasks set note = 'x' where false", "update tasks set done_at = null", "update tasks set note = note",
    ]
    for statement in statements { try await scene.database.sql(statement) }
    #expect(try await scene.database.sql("select count(*) from tacet.inbox") == "3")
  }

  @Test(
    "placeholders are replaced in one pass; a null leaves nothing, a brace that begins no name is itself",
    arguments: [
      ("'{actor}{id}'", "{actor}{id}", "{actor}{id}!"), ("null", "", "!"), ("'a'", "a", "a!"),
      ("repeat('ä', 5000)", String(repeating: "ä", count: 4096), String(repeating: "ä", count: 4096)),
    ])
  func templates(_ note: String, _ title: String, _ body: String) async throws {
    let scene = try await WatchScene.tasks(title: "{note}")
    try await scene.add(note: note)
    let notice = try #require(try await claim(scene.database).first?.watchedRow)
    #expect(notice.title == title)
    #expect(notice.body == body)
    let filled = try await scene.database.sql(#"select tacet.fill_template('{ {a}} {{b}', '{"a": "{b}", "b": 1}')"#)
    #expect(filled == "{ {b}} {1")
  }

  @Test("an actor without a name is somebody")
  func unnamed() async throws {
    let scene = try await WatchScene.tasks("unnamed_actor => 'Jemand'")
    try await scene.database.sql("update profiles set name = null")
    try await scene.add(note: "'Tea'")
    #expect(try await claim(scene.database).first?.watchedRow?.title == "Jemand added Tea")
  }

  @Test("presence is that at the surface, of the recipient and of the kind of surface")
  func presence() async throws {
    let scene = try await WatchScene.tasks()
    try await scene.add(note: "'before'")
    try await scene.database.sql(
      """
      insert into tacet.surface_views (user_id, surface_kind, surface_id, last_seen, left_at) values
        ('\(scene.reader)', 'list', '\(scene.list)', now() - interval '30 s', null),
        ('\(scene.reader)', 'other', '\(scene.list)', now(), now()),
        ('\(scene.reader)', 'list', gen_random_uuid(), now(), now()),
        ('\(scene.actor)', 'list', '\(scene.list)', now(), now())
      """)
    let situation = try #require(try await claim(scene.database).first?.recipients.first?.situation)
    #expect(try (.seconds(30)...(.seconds(30) + patience)).contains(#require(situation.lastSeenAge)))
    #expect(!situation.hasLeft)
    #expect(!situation.sawAfterMessage)
  }

  @Test("nothing is left of an event whose row, whose surface or whose watch is gone")
  func deleted() async throws {
    for deletion in ["delete from tasks", "delete from lists", "select tacet.unwatch('task_added')"] {
      let scene = try await WatchScene.tasks()
      try await scene.add(note: "'Tea'")
      try await scene.database.sql(deletion)
      let event = try #require(try await claim(scene.database).first)
      #expect(event.content == nil)
      #expect(event.surfaceID == nil)
      #expect(event.recipients == [])
    }
  }

  @Test("a hold is due at once when its row is deleted, and by a look at its surface, and by no other")
  func released() async throws {
    for (change, isDue) in [
      ("delete from tasks", "t"), ("select tacet.release_conversation('$list', '$reader')", "t"),
      ("update tasks set note = 'x'", "f"), ("select tacet.release_conversation('$list', '$list')", "f"),
    ] {
      let scene = try await WatchScene.tasks()
      let task = try await scene.add(note: "'Tea'")
      try await scene.database.sql(
        """
        insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, conversation_id)
        values (now() + '1 h', now(), '\(task)', '\(scene.reader)', 'task_added', 'held', '\(scene.list)')
        """)
      let statement = change.replacing("$list", with: "\(scene.list)").replacing("$reader", with: "\(scene.reader)")
      try await scene.database.sql(statement)
      #expect(try await scene.database.sql("select due_at <= now() from tacet.deliveries") == isDue, "\(change)")
    }
  }

  @Test("a review leaves a hold alone about which nothing was learnt, and releases it when its viewer left")
  func review() async throws {
    let scene = try await WatchScene.tasks()
    let task = try await scene.add(note: "'Tea'")
    try await scene.database.sql(
      """
      insert into tacet.surface_views (user_id, surface_kind, surface_id, last_seen)
      values ('\(scene.reader)', 'list', '\(scene.list)', now() - interval '1 s');
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, conversation_id)
      values (now() + '1 h', now(), '\(task)', '\(scene.reader)', 'task_added', 'held', '\(scene.list)');
      insert into tacet.push_log (subject_id, user_id, push_type, decision, reason)
      values ('\(task)', '\(scene.reader)', 'task_added', 'held', 'user_viewing')
      """)
    let hold = RecordedHold(subject: PushSubject(id: task, kind: "task_added"), userID: scene.reader)
    for expected in [0, 1] {
      let count = try await withStore(scene.database) { try await $0.review([hold], on: $1).released }
      #expect(count == expected)
      try await scene.database.sql("update tacet.surface_views set left_at = now()")
    }
  }

  @Test("watching again replaces what was watched, and unwatching leaves nothing")
  func again() async throws {
    let scene = try await WatchScene.tasks()
    let triggers = "select count(*) from pg_trigger where tgname like 'tacet%task_added'"
    try await scene.watch(title: "New")
    #expect(try await scene.database.sql(triggers) == "2")
    try await scene.add(note: "'Tea'")
    #expect(try await claim(scene.database).map(\.watchedRow?.title) == ["New"])
    #expect(try await scene.database.sql("select tacet.unwatch('task_added')") == "t")
    #expect(try await scene.database.sql("select tacet.unwatch('task_added')") == "f")
    #expect(try await scene.database.sql(triggers) == "0")
    try await scene.add(note: "'Tea'")
    #expect(try await scene.database.sql("select count(*) from tacet.inbox where not is_claimed") == "0")
  }

  @Test("kinds of the longest names have triggers of their own on one table")
  func longNames() async throws {
    let scene = try await WatchScene.tasks()
    for end in ["a", "b"] { try await scene.watch(kind: String(repeating: "k", count: 62) + end) }
    try await scene.add(note: "'Tea'")
    #expect(try await scene.database.sql("select count(*) from tacet.inbox") == "3")
  }

  @Test(
    "what cannot work is refused, and changes nothing", .uuidsOnly,
    arguments: [
      "kind => 'message'", "kind => 'read_sync'", "kind => 'Task'", "kind => ''", "kind => null", "kind => 'a-b'",
      "kind => E'a\\n'", "kind => repeat('k', 64)", "surface_kind => 'conversation'", "surface_kind => 'A'",
      "source => 'pg_class'", "recipients => 'now'", "recipients => 'gen_random_uuid'", "recipients => 'unqualified'",
      "title => ''", "title => '{nothing}'", "body => '{nothing}'", "title => '{xmin}'", "fires_on => 'delete'",
      "fires_on => 'update'", "fires_on => 'update of nothing'", "fires_on => null", "condition => 'new.nothing'",
      "condition => 'old.note is null'", "condition => ')'", "condition => 'new.note'", "actor => 'note'",
      "actor => 'nothing'", "surface => 'nothing'", "surface => 'note'", "id_column => 'note'",
      "surface_table => 'pg_class'",
    ])
  func refused(_ argument: String) async throws {
    let scene = try await WatchScene.tasks()
    let before = try await scene.database.sql("select k::text from tacet.kinds k")
    await #expect(throws: (any Error).self) { try await scene.watch(argument) }
    #expect(try await scene.database.sql("select k::text from tacet.kinds k") == before)
    try await scene.add(note: "'Tea'")
    #expect(try await scene.database.sql("select count(*) from tacet.inbox") == "1")
  }

  @Test(
    "a surface of a watched kind may be viewed by anybody where it is; others are unknown",
    arguments: [
      ("", "list", "t"), ("", "task", "f"), ("", "other", "f"), ("surface_table => null", "list", "t"),
      ("surface_table => null", "task", "f"), ("surface => null, surface_table => null", "task", "t"),
      ("surface => null, surface_table => null", "list", "f"), ("surface_table => null", "unused", "f"),
      ("", "unused", "t"),
    ])
  func mayView(_ arguments: String, _ surface: String, _ isThere: String) async throws {
    let scene = try await WatchScene.tasks(arguments.isEmpty ? nil : arguments)
    let task = try await scene.add(note: "'Tea'")
    let unused = HostID.new()
    try await scene.database.sql("insert into lists values ('\(unused)')")
    let id = ["list": scene.list, "task": task, "unused": unused][surface] ?? HostID.new()
    for (kind, answer) in [("list", isThere), ("task_added", "f"), ("conversation", "f")] {
      let seen = try await scene.database.sql(
        "select tacet.may_view('\(kind)', '\(id)', gen_random_uuid()) is not distinct from true")
      #expect(seen == answer, "\(kind)")
    }
    #expect(try await scene.database.sql("select tacet.may_view('list', gen_random_uuid(), gen_random_uuid())") == "")
  }

  @Test("of several kinds with one kind of surface each says where it may be; one whose table is gone says nothing")
  func mayViewByKinds() async throws {
    let scene = try await WatchScene.tasks()
    let task = try await scene.add(note: "'Tea'")
    try await scene.watch("surface => null, surface_table => null", kind: "task_done")
    let answers = "select tacet.may_view('list', '\(scene.list)', null), tacet.may_view('list', '\(task)', null)"
    #expect(try await scene.database.sql(answers) == "t|t")
    try await scene.database.sql("drop table lists")
    #expect(try await scene.database.sql(answers) == "|t")
    try await scene.database.sql("drop table tasks cascade")
    #expect(try await scene.database.sql(answers) == "|")
  }
}

@Suite("How pushes of watched rows are shown, and when they are sent")
struct WatchPresentationTests {
  @Test("the texts of a presentation are templates; a row has its own time, life and key")
  func presentation() async throws {
    let scene = try await WatchScene.tasks(
      """
      presentation => '{"category": "TASK", "subtitle": "{note}", "thread_id": "{list_id}", "badge": 3}',
      send_at => 'done_at', expires_in => interval '1 hour', cancel_key => 'task:{id}'
      """)
    let later = HostID.new()
    try await scene.database.sql(
      """
      insert into tasks (id, list_id, by_id, note, done_at) values
        ('\(later)', '\(scene.list)', '\(scene.actor)', 'later', now() + interval '1 h'),
        ('\(HostID.new())', '\(scene.list)', '\(scene.actor)', 'Tea', now() - interval '90 s')
      """)
    let event = try #require(try await claim(scene.database).first)
    let shown = try #require(event.watchedRow?.presentation)
    #expect(shown.category == "TASK" && shown.subtitle == "Tea" && shown.badge == 3)
    #expect(shown.threadID == scene.list.text)
    let situation = try #require(event.recipients.first?.situation)
    #expect(situation.life == .seconds(3600) && !situation.isCancelled)
    #expect((.seconds(90)...(.seconds(90) + patience)).contains(situation.messageAge))
    #expect(try await scene.database.sql("select tacet.cancel_pushes('task:\(later.text)')") == "0")
    try await scene.database.sql("update tacet.inbox set available_at = now() where subject_id = '\(later)'")
    #expect(try await claim(scene.database).flatMap(\.recipients).map(\.situation.isCancelled) == [true])
  }

  @Test(
    "a presentation that no push can have is refused when the watch is made",
    arguments: [
      (#"presentation => '{"subtitel": "x"}'"#), (#"presentation => '{"badge": "1"}'"#), ("presentation => '[]'"),
      (#"presentation => '{"interruption_level": "loud"}'"#), (#"presentation => '{"subtitle": "{nothing}"}'"#),
      ("send_at => 'note'"), ("send_at => 'nothing'"), ("expires_in => interval '0'"),
      ("expires_in => interval '31 days'"), ("cancel_key => '{nothing}'"),
    ])
  func presentationRefused(argument: String) async throws {
    let scene = try await WatchScene.tasks()
    await #expect(throws: (any Error).self) { try await scene.watch(argument) }
  }
}
