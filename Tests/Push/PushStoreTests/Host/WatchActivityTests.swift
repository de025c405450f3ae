import Foundation
import Postgres
import PushRules
import TestIDs
import TestRepository
import Testing

@testable import PushStore

@Suite("Watched tables whose rows are Live Activities")
struct WatchActivityTests {
  private struct Scene {
    let activity: LiveActivityScene
    let row = HostID.new()
    var database: TestDatabase { activity.database }
    var id: String { "\(LiveActivityScene.type):\(row)" }

    init(_ fields: String = "") async throws {
      activity = try await LiveActivityScene()
      try await database.sql(
        """
        create table workouts (
          id uuid primary key, user_id uuid, sport text, began_at timestamptz, seconds int, heart_rate int, exercise text,
          is_done boolean default false
        )
        """)
      try await watch()
    }

    func watch(_ endedWhen: String = "new.is_done", fields: String? = nil) async throws {
      try await database.sql(
        """
        select tacet.watch_activity(
          '\(LiveActivityScene.type)', 'workouts', 'user_id',
          '\(fields ?? #"{"workoutType": "new.sport", "startTime": "new.began_at", "elapsedTime": "new.seconds", "heartRate": "new.heart_rate", "currentExercise": "new.exercise"}"#)',
          '\(endedWhen)')
        """)
    }

    func add() async throws {
      try await change(
        """
        insert into workouts (id, user_id, sport, began_at, seconds, heart_rate)
        values ('\(row)', '\(activity.user)', 'Row', '2001-01-01T00:01:00Z', 0, 90)
        """)
    }

    /// Changes the table, and lets Live Activities follow.
    func change(_ sql: String) async throws {
      try await database.sql(sql)
      try await activity.follow()
    }

    var failures: String {
      get async throws {
        try await database.sql("select kind, cardinality(subject_ids), sqlstate from tacet.trigger_failures")
      }
    }
  }

  @Test("an insert starts, a change updates, the condition ends; nothing comes back to life")
  func life() async throws {
    let scene = try await Scene()
    try await scene.add()
    let starts = try await claim(scene.database)
    #expect(starts.map(LiveActivityScene.words) == ["start 0 -> bb01"])
    guard let event = starts.first?.liveActivity?.event, case .start(let start) = event else {
      return #expect(Bool(false), "a start")
    }
    #expect(start.attributes["startTime"] == 60 && start.attributes["workoutType"] == "Row")
    try await scene.activity.take(starts)
    try await scene.activity.report("cc01", scene.id)
    try await scene.change("update workouts set seconds = 30, heart_rate = 110")
    try await scene.activity.passTime()
    #expect(try await scene.activity.send() == ["update 30 -> cc01"])
    try await scene.change("update workouts set sport = sport")
    #expect(try await scene.database.sql("select count(*) from tacet.inbox") == "0")
    try await scene.change("update workouts set seconds = 60, is_done = true")
    try await scene.activity.passTime()
    let ends = try await claim(scene.database)
    #expect(ends.map(LiveActivityScene.words) == ["end 60 -> cc01"])
    #expect(ends.first?.liveActivity?.contentState["heartRate"] == 0)
    try await scene.activity.take(ends)
    try await scene.change("update workouts set seconds = 70, is_done = false; delete from workouts")
    #expect(try await scene.database.sql("select count(*) from tacet.inbox") == "0")
    #expect(try await scene.failures == "")
  }

  @Test("a row that is given to another user ends here and starts there; no state of it comes back")
  func reassigned() async throws {
    let scene = try await Scene()
    try await scene.add()
    try await scene.activity.send()
    try await scene.activity.report("cc01", scene.id)
    let other = scene.activity.chat.sender
    try await scene.change("update workouts set user_id = '\(other)', seconds = 30")
    try await scene.activity.passTime()
    #expect(Set(try await scene.activity.send()) == ["end 0 -> cc01", "start 30 -> "])
    try await scene.change("update workouts set seconds = 40")
    try await scene.activity.passTime()
    #expect(try await scene.activity.send() == ["update 40 -> "])
    let users = "select user_id, end_reason from tacet.activities order by end_reason"
    #expect(try await scene.database.sql(users) == "\(scene.activity.user)|row_reassigned\n\(other)|")
  }

  @Test("an app that announces the id of a row gets nothing of it, and keeps its user from nothing")
  func squatted() async throws {
    let scene = try await Scene()
    let other = scene.activity.chat.sender
    #expect(try await scene.activity.start(scene.id, of: other, isPushed: false) == .started)
    #expect(try await scene.activity.report("dd01", scene.id, of: other, device: "ff01"))
    try await scene.add()
    #expect(try await scene.activity.send() == ["start 0 -> bb01"])
    #expect(try await scene.activity.report("cc01", scene.id))
    try await scene.change("update workouts set seconds = 30")
    try await scene.activity.passTime()
    #expect(try await scene.activity.send() == ["update 30 -> cc01"])
    #expect(try await scene.activity.report("ee01", scene.id, of: other, device: "ff02"))
    try await scene.change("update workouts set seconds = 40")
    try await scene.activity.passTime()
    #expect(try await scene.activity.send() == ["update 40 -> cc01"])
  }

  @Test("an update of which no field is shown queues nothing; where an expression selects, each change does")
  func compared() async throws {
    let scene = try await Scene()
    try await scene.add()
    let queued = "select count(*) from tacet.changed_rows"
    try await scene.database.sql("update workouts set sport = 'Row', is_done = false, began_at = now()")
    #expect(try await scene.database.sql(queued) == "0")
    try await scene.watch("(select new.is_done)")
    try await scene.database.sql("update workouts set is_done = false, began_at = '2001-01-01'")
    #expect(try await scene.database.sql(queued) == "1")
    try await scene.database.sql("update workouts set id = '\(HostID.new())'")
    #expect(try await scene.database.sql(queued) == "3")
    try await scene.activity.follow()
    #expect(try await scene.database.sql("select count(*), max(end_reason) from tacet.activities") == "2|row_deleted")
  }

  @Test("a statement that is cancelled while its triggers work stays cancelled")
  func cancelled() async throws {
    let scene = try await Scene()
    try await scene.add()
    try await scene.watch("pg_sleep(60)::text = ''x''")
    try await withSessions(scene.database, 2) { sessions, reactor in
      let update = Begun.begin(on: reactor) {
        try await sessions[0].run("update public.workouts set seconds = seconds + 1", on: reactor)
      }
      try await sessions[1].awaitTrue(
        "select wait_event = 'PgSleep' from pg_stat_activity where pid = \(sessions[0].processID)", on: reactor)
      try await sessions[1].run("select pg_cancel_backend(\(sessions[0].processID))", on: reactor)
      await #expect(throws: PostgresError.self) { try await update.value(on: reactor) }
    }
    #expect(try await scene.database.sql("select seconds from workouts") == "0")
  }

  @Test("only the triggers that enqueue catch a cancel, and only one")
  func cancels() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Repository.file("db/functions").path)
    let catches = try files.reduce(into: [String: Int]()) { counts, file in
      let count = try Repository.text("db/functions/\(file)").split(separator: "when query_canceled or").count - 1
      if count > 0 { counts[file] = count }
    }
    #expect(catches == ["kind_watched_row.sql": 1, "message_trigger.sql": 1])
  }

  @Test("a deleted row ends its activity; a transaction that is rolled back says nothing")
  func deletion() async throws {
    let scene = try await Scene()
    try await withSessions(scene.database, 1) { sessions, reactor in
      try await sessions[0].run("begin", on: reactor)
      try await sessions[0].run(
        "insert into public.workouts (id, user_id, sport, began_at) values ('\(scene.row)', '\(scene.activity.user)', 'Run', now())",
        on: reactor)
      try await sessions[0].run("rollback", on: reactor)
    }
    #expect(try await scene.database.sql("select count(*) from tacet.activities") == "0")
    try await scene.add()
    try await scene.change("delete from workouts")
    #expect(try await scene.database.sql("select end_reason from tacet.activities") == "row_deleted")
  }

  @Test("what the device would not decode is counted, and the host's statement goes through")
  func unfit() async throws {
    let scene = try await Scene()
    try await scene.change(
      "insert into workouts (id, user_id, sport) values ('\(scene.row)', '\(scene.activity.user)', 'Run')")
    #expect(try await scene.failures == "activity:\(LiveActivityScene.type)|0|22023")
    #expect(try await scene.database.sql("select count(*) from workouts") == "1")
  }

  @Test("a row whose activity is locked is followed later, and no state of it is lost")
  func locked() async throws {
    let scene = try await Scene()
    try await scene.add()
    try await scene.activity.send()
    try await scene.activity.report("cc01", scene.id)
    try await withSessions(scene.database, 1) { sessions, reactor in
      try await sessions[0].run("begin", on: reactor)
      try await sessions[0].run("select from tacet.activities for update", on: reactor)
      try await scene.change("update workouts set seconds = 45")
      try await sessions[0].run("rollback", on: reactor)
    }
    #expect(try await scene.failures == "activity:\(LiveActivityScene.type)|1|55P03")
    #expect(try await withStore(scene.database) { try await $0.enqueueMissed(rowsMax: 10, on: $1) } == 0)
    #expect(try await withStore(scene.database) { try await $0.tendLiveActivities(10, on: $1) } == 1)
    try await scene.activity.passTime()
    #expect(try await scene.activity.send() == ["update 45 -> cc01"])
  }

  @Test(
    "a role without any right on our schema writes the table; a role with all of them cannot say what the triggers run")
  func rights() async throws {
    let scene = try await Scene()
    let role = "r" + UUID().uuidString.lowercased().filter { $0 != "-" }
    try await scene.database.sql("create role \(role); grant all on workouts to \(role)")
    try await scene.database.sql(
      """
      set role \(role);
      insert into workouts (id, user_id, sport, began_at, seconds, heart_rate)
      values ('\(scene.row)', '\(scene.activity.user)', 'Run', now(), 0, 100)
      """)
    try await scene.activity.follow()
    #expect(try await scene.database.sql("select count(*) from tacet.activities") == "1")
    #expect(try await scene.failures == "")
    try await scene.database.sql("select tacet.grant_service('\(role)')")
    for attempt in ["update tacet.watched_activities set ended_when = 'true'", "select tacet.unwatch_activity('x')"] {
      await #expect(throws: (any Error).self) { try await scene.database.sql("set role \(role); \(attempt)") }
    }
    try await scene.database.sql("drop owned by \(role); drop role \(role)")
  }

  @Test(
    "a watch that cannot work is refused, and changes nothing",
    arguments: [
      ("new.nothing", nil), ("new.is_done", #"{"nothing": "new.sport"}"#), ("new.is_done", #"{"heartRate": 3}"#),
      ("new.is_done", #"{"heartRate": "new.nothing"}"#),
    ] as [(String, String?)])
  func refused(_ endedWhen: String, _ fields: String?) async throws {
    let scene = try await Scene()
    let watched = "select w::text from tacet.watched_activities w"
    let before = try await scene.database.sql(watched)
    await #expect(throws: (any Error).self) { try await scene.watch(endedWhen, fields: fields) }
    #expect(try await scene.database.sql(watched) == before)
  }

  @Test("a table that the triggers may not read is refused, and the error says what to grant")
  func unreadable() async throws {
    let scene = try await Scene()
    let role = "r" + UUID().uuidString.lowercased().filter { $0 != "-" }
    try await scene.database.sql("create role \(role); alter function tacet.follow_rows() owner to \(role)")
    let error = await #expect(throws: (any Error).self) { try await scene.watch("new.is_done", fields: nil) }
    #expect(error.map { "\($0)".contains("grant select on public.workouts to \(role)") } == true)
    try await scene.database.sql("grant select on workouts to \(role)")
    try await scene.watch("new.is_done", fields: nil)
    try await scene.database.sql(
      "alter function tacet.follow_rows() owner to postgres; drop owned by \(role); drop role \(role)")
  }

  @Test("no triggers are left of a table that is watched no more")
  func unwatched() async throws {
    let scene = try await Scene()
    #expect(try await scene.database.sql("select tacet.unwatch_activity('\(LiveActivityScene.type)')") == "t")
    #expect(try await scene.database.sql("select count(*) from pg_trigger where tgrelid = 'workouts'::regclass") == "0")
  }
}
