import APNSCore
import Foundation
import PushKinds
import TestIDs
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
      try await database.sql(
        """
        insert into workouts (id, user_id, sport, began_at, seconds, heart_rate)
        values ('\(row)', '\(activity.user)', 'Row', '2001-01-01T00:01:00Z', 0, 90)
        """)
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
    try await scene.database.sql("update workouts set seconds = 30, heart_rate = 110")
    try await scene.activity.passTime()
    #expect(try await scene.activity.send() == ["update 30 -> cc01"])
    try await scene.database.sql("update workouts set sport = sport")
    #expect(try await scene.database.sql("select count(*) from tacet.inbox") == "0")
    try await scene.database.sql("update workouts set seconds = 60, is_done = true")
    try await scene.activity.passTime()
    let ends = try await claim(scene.database)
    #expect(ends.map(LiveActivityScene.words) == ["end 60 -> cc01"])
    #expect(ends.first?.liveActivity?.contentState["heartRate"] == 0)
    try await scene.activity.take(ends)
    try await scene.database.sql("update workouts set seconds = 70, is_done = false; delete from workouts")
    #expect(try await scene.database.sql("select count(*) from tacet.inbox") == "0")
    #expect(try await scene.failures == "")
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
    try await scene.database.sql("delete from workouts")
    #expect(try await scene.database.sql("select end_reason from tacet.activities") == "row_deleted")
  }

  @Test("what the device would not decode is counted, and the host's statement goes through")
  func unfit() async throws {
    let scene = try await Scene()
    try await scene.database.sql(
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
      try await scene.database.sql("update workouts set seconds = 45")
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
