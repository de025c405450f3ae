import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Reminders that are put off")
struct SnoozeTests {
  /// A workout at seven, which was pushed.
  private struct Scene {
    let engagement: EngagementScene
    let user: HostID
    var database: TestDatabase { engagement.database }

    init(firedAt: String = "now() - interval '1 minute'") async throws {
      engagement = try await EngagementScene()
      user = try await engagement.addUser()
      try await engagement.database.sql(
        """
        insert into tacet.slots (next_fire_at, fire_date, user_id, campaign, slot, time_zone)
        values (now() + interval '1 day', '2026-11-23', '\(user)', 'workout', '0700', 'UTC');
        insert into tacet.occasions (
          fire_at, available_at, fire_date, user_id, campaign, slot, time_zone, status, title, body, category, data
        )
        select f.at, f.at, '2026-11-22', '\(user)', 'workout', '0700', 'UTC', 'sent', 'Workout Time! 🏋️', 'Go.', 'WORKOUT',
          '{"workoutType": "Run"}'
        from (select \(firedAt) as at) f
        """)
    }

    /// Reports an action, so long ago.
    func report(_ action: String, id: UUID = UUID(), ago: Double = 0, of other: HostID? = nil) async throws -> String {
      let report = SlotActionReport(
        id: id, action: action, row: SlotIdentifier("workout.0700.2026-11-22")!,
        happenedAt: Int64((Date().timeIntervalSince1970 - ago) * 1_000_000))
      let user = other ?? user
      switch try await withStore(database, { try await $0.report(report, of: user, on: $1) }) {
      case .noted(let answer): return answer
      case .repeated(let answer): return "repeated \(answer)"
      case .otherReport: return "other"
      case .unknownRow: return "unknown"
      case .tooMany: return "too many"
      }
    }

    /// What is to come: minutes until the push, its words, and how it is shown.
    func queued() async throws -> String {
      try await database.sql(
        """
        select round(extract(epoch from p.send_at - now()) / 60), p.title, p.body, p.data ->> 'workoutType', p.presentation ->> 'category',
          p.collapse_id ~ '^workout_[0-9]+$', i.available_at = p.send_at, p.metadata ->> 'snooze',
          tacet.is_cancelled(p.cancel_key, p.created_at)
        from tacet.pushes p join tacet.inbox i on i.subject_id = tacet.subject_of(p.id) order by p.created_at
        """)
    }
  }

  private static let withheld = """
    select c.withheld from tacet.pushes p
    cross join lateral tacet.stored_push_content(p.kind, tacet.subject_of(p.id)) c where p.kind = 'workout'
    """
  private static let snoozed = #"{"snoozed": true}"#
  private static let refused = #"{"snoozed": false}"#

  @Test("the same text comes thirty minutes later, and three times at most")
  func thrice() async throws {
    let scene = try await Scene()
    for snooze in 1...3 {
      #expect(try await scene.report("SNOOZE_30") == Self.snoozed)
      let last = try await scene.queued().split(separator: "\n").last
      #expect(last == "30|Workout Time! 🏋️|Go.|Run|WORKOUT|t|t|\(snooze)|f")
    }
    #expect(try await scene.report("SNOOZE_30") == Self.refused)
    #expect(try await scene.database.sql("select count(*) from tacet.pushes") == "3")
  }

  @Test("a replayed action changes nothing, and neither does one of another user or of another campaign's category")
  func replayed() async throws {
    let scene = try await Scene()
    let id = UUID()
    #expect(try await scene.report("SNOOZE_30", id: id) == Self.snoozed)
    #expect(try await scene.report("SNOOZE_30", id: id) == "repeated \(Self.snoozed)")
    let other = try await scene.engagement.addUser()
    #expect(try await scene.report("SNOOZE_30", of: other) == "unknown")
    #expect(try await scene.report("SNOOZE_15") == "{}")
    try await scene.database.sql("update tacet.occasions set campaign = 'morning'")
    #expect(try await scene.report("SNOOZE_30") == "unknown")
    #expect(try await scene.database.sql("select count(*) from tacet.pushes") == "1")
  }

  @Test(
    "nothing comes of a slot that was switched off or moved, whose user has left the audience, or whose campaign is off",
    arguments: [
      (
        #"select tacet.choose_slots('workout', 'USER', false, '[{"slot": "0700", "is_enabled": true}]', 'UTC', 0)"#,
        true
      ),
      (
        #"select tacet.choose_slots('workout', 'USER', true, '[{"slot": "0700", "is_enabled": false}]', 'UTC', 0)"#,
        true
      ),
      (
        #"select tacet.choose_slots('workout', 'USER', true, '[{"slot": "0715", "is_enabled": true}]', 'UTC', 0)"#, true
      ),
      ("select tacet.change_slots('workout', 'USER', null, 0)", true),
      ("update tacet.campaigns set is_active = false where name = 'workout'", false),
    ])
  func off(change: String, isForGood: Bool) async throws {
    let scene = try await Scene()
    #expect(try await scene.report("SNOOZE_30") == Self.snoozed)
    try await scene.database.sql(change.replacing("USER", with: scene.user.text))
    #expect(try await scene.database.sql(Self.withheld) == "cancelled")
    guard isForGood else { return }
    #expect(try await scene.report("SNOOZE_30") == Self.refused)
    // Switched on again, it does not come either.
    try await scene.database.sql(
      #"select tacet.choose_slots('workout', '\#(scene.user)', true, '[{"slot": "0700", "is_enabled": true}]', 'UTC', 0)"#
    )
    #expect(try await scene.database.sql(Self.withheld) == "cancelled")
  }

  @Test("nothing comes after the workout was started, in whichever order that is reported")
  func started() async throws {
    let scene = try await Scene()
    #expect(try await scene.report("SNOOZE_30") == Self.snoozed)
    #expect(try await scene.report("START_WORKOUT") == "{}")
    #expect(try await scene.queued().hasSuffix("|t"))
    #expect(try await scene.report("SNOOZE_30") == Self.refused)
    #expect(try await scene.report("SNOOZE_30", ago: 600) == Self.refused)
    #expect(try await scene.database.sql("select count(*) from tacet.pushes") == "1")
  }

  @Test("nothing comes of what was done meanwhile, as the host knows", arguments: [(10, true), (121, false)])
  func done(minutesAgo: Int, isWithheld: Bool) async throws {
    let scene = try await Scene()
    #expect(try await scene.report("SNOOZE_30") == Self.snoozed)
    try await scene.database.sql(
      """
      update context_profiles
      set coaching_facts = jsonb_build_object('last_workout_at', now() - interval '\(minutesAgo) minutes')
      """)
    #expect(try await scene.database.sql(Self.withheld) == (isWithheld ? "cancelled" : ""))
  }

  @Test("nothing goes to a device that may show nothing, whenever that was said", arguments: [true, false])
  func denied(isBefore: Bool) async throws {
    let scene = try await Scene()
    try await scene.database.sql("insert into push_tokens (user_id, device_token) values ('\(scene.user)', 'bb')")
    let denial = "select tacet.note_device_permission('\(scene.user)', 'bb', true, null, clock_timestamp())"
    if isBefore { try await scene.database.sql(denial) }
    #expect(try await scene.report("SNOOZE_30") == Self.snoozed)
    if !isBefore { try await scene.database.sql(denial) }
    let excluded = Self.withheld.replacing("c.withheld", with: "c.excluded_device")
    #expect(try await scene.database.sql(excluded) == "bb")
  }

  @Test(
    "the time runs from the action, not from its report; one that is long over is refused",
    arguments: [(600.0, true), (2_640, true), (2_760, false)])
  func late(ago: Double, isTaken: Bool) async throws {
    let scene = try await Scene()
    #expect(try await scene.report("SNOOZE_30", ago: ago) == (isTaken ? Self.snoozed : Self.refused))
    guard isTaken else { return }
    #expect(try await scene.queued().hasPrefix("\(Int((30 - ago / 60).rounded()))|"))
  }

  @Test(
    "thirty minutes are thirty minutes, over midnight and where the clock changes",
    arguments: [
      ("2027-01-31 23:45", "2027-02-01 00:15:00+01"), ("2027-03-28 01:45", "2027-03-28 03:15:00+02"),
      ("2027-10-31 02:45+02", "2027-10-31 02:15:00+01"),
    ])
  func clock(action: String, push: String) async throws {
    let scene = try await Scene()
    let sentAt = try await scene.database.sql(
      """
      set time zone 'Europe/Berlin';
      select tacet.snooze_occasion(
        tacet.named_occasion('\(scene.user)', 'workout.0700.2026-11-22'), 'SNOOZE_30', '\(action)', true);
      select send_at from tacet.pushes
      """)
    #expect(sentAt == "\(Self.snoozed)\n\(push)")
  }

  @Test("what is put off while its slot is being switched off does not come, also when that is switched on again")
  func switchedOff() async throws {
    let scene = try await Scene()
    func choice(_ isOn: Bool) -> String {
      """
      (select count(tacet.choose_slots('workout', '\(scene.user)', \(isOn), '[{"slot": "0700", "is_enabled": true}]', 'UTC', 0)::text))
      """
    }
    let (off, user) = (choice(false), scene.user)
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run(
        """
        begin;
        select tacet.report_slot_action('\(user)', '\(UUID())', 'SNOOZE_30', 'workout.0700.2026-11-22', now())
        """, on: reactor)
      let begun = Begun.begin(on: reactor) { try await second.value(off, on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      _ = try await begun.value(on: reactor)
    }
    try await scene.database.sql("select \(choice(true))")
    #expect(try await scene.database.sql(Self.withheld) == "cancelled")
  }

  @Test("of an action and the start at the same time the later one sees the earlier one", arguments: [true, false])
  func race(snoozesFirst: Bool) async throws {
    let scene = try await Scene()
    let user = scene.user
    @Sendable func call(_ action: String) -> String {
      """
      select answer from tacet.report_slot_action('\(user)', '\(UUID())', '\(action)', 'workout.0700.2026-11-22', now())
      """
    }
    let actions = snoozesFirst ? ["SNOOZE_30", "START_WORKOUT"] : ["START_WORKOUT", "SNOOZE_30"]
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin", on: reactor)
      try await first.run(call(actions[0]), on: reactor)
      let begun = Begun.begin(on: reactor) { try await second.value(call(actions[1]), on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      #expect(try await begun.value(on: reactor) == (snoozesFirst ? "{}" : Self.refused))
    }
    let queued = try await scene.queued()
    #expect(snoozesFirst ? queued.hasSuffix("|t") : queued.isEmpty)
  }
}
