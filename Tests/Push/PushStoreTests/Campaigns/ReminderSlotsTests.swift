import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("When reminders come")
struct ReminderSlotsTests {
  /// A user's slots of a campaign, after a look at its audience.
  private static func slots(
    _ campaign: String, _ reminders: String?, in scene: EngagementScene? = nil
  ) async throws -> String {
    var scene = scene
    if scene == nil { scene = try await EngagementScene() }
    guard let scene else { return "" }
    let user = try await scene.addUser(reminders: reminders)
    try await enrol(campaign, in: scene)
    return try await slots(campaign, of: user, in: scene)
  }

  private static func enrol(_ campaign: String, in scene: EngagementScene) async throws {
    try await scene.database.sql(
      """
      select tacet.enrol_slots('\(campaign)', c.definition -> 'slots', n.are_new, null, 100, 0)
      from tacet.campaigns c cross join (values (true), (false)) as n (are_new) where c.name = '\(campaign)'
      """)
  }

  private static func slots(_ campaign: String, of user: HostID, in scene: EngagementScene) async throws -> String {
    try await scene.database.sql(
      """
      select string_agg(slot || case when cardinality(weekdays) < 7 then array_to_string(weekdays, '') else '' end, ' '
        order by slot)
      from tacet.slots where user_id = '\(user)' and campaign = '\(campaign)'
      """)
  }

  @Test(
    "at the times of the preferences, and without a clear wish never",
    arguments: [
      ("morning", #"{"morning_greeting": true}"#, "0800"),
      ("morning", #"{"morning_greeting": true, "morning_time": "06:45"}"#, "0645"),
      ("morning", #"{"morning_greeting": true, "morning_time": "6:45"}"#, ""),
      ("morning", #"{"morning_greeting": true, "morning_time": "24:00"}"#, ""),
      ("morning", #"{"morning_greeting": true, "morning_time": 8}"#, ""),
      ("morning", #"{"morning_greeting": "true"}"#, ""), ("morning", #"{"morning_time": "06:45"}"#, ""),
      ("morning", nil, ""), ("morning", "[true]", ""), ("morning", "{}", ""),
      ("meal", #"{"meal_reminders": true}"#, "0800 1230 1500 1830"), ("meal", #"{"meal_reminders": false}"#, ""),
      ("hydration", #"{"hydration_reminders": true}"#, ""),
      (
        "hydration", #"{"hydration_reminders": true, "hydration_frequency": "hourly"}"#,
        "0800 0900 1000 1100 1200 1300 1400 1500 1600 1700 1800 1900 2000 2100"
      ),
      (
        "hydration",
        #"{"hydration_reminders": true, "hydration_frequency": "bi_hourly", "waking_start": "07:30", "waking_end": "13:30"}"#,
        "0730 0930 1130"
      ),
      (
        "hydration",
        #"{"hydration_reminders": true, "hydration_frequency": "bi_hourly", "waking_start": "07:30", "waking_end": "13:31"}"#,
        "0730 0930 1130 1330"
      ),
      ("hydration", #"{"hydration_reminders": true, "hydration_frequency": "tri_daily"}"#, "0800 1240 1720"),
      (
        "hydration",
        #"{"hydration_reminders": true, "hydration_frequency": "tri_daily", "waking_start": "20:00", "waking_end": "08:00"}"#,
        "0000 0400 2000"
      ),
      (
        "hydration",
        #"{"hydration_reminders": true, "hydration_frequency": "tri_daily", "waking_start": "08:00", "waking_end": "22:01"}"#,
        "0800 1241 1722"
      ),
      ("hydration", #"{"hydration_reminders": true, "hydration_frequency": "often"}"#, ""),
      (
        "hydration",
        #"{"hydration_reminders": true, "hydration_frequency": "hourly", "waking_start": "x"}"#, ""
      ),
    ] as [(String, String?, String)])
  func times(campaign: String, reminders: String?, expected: String) async throws {
    #expect(try await Self.slots(campaign, reminders) == expected)
  }

  @Test(
    "workouts come as the schedule has them; one that cannot be read as a whole is silence",
    arguments: [
      (#"[{"type": "Run", "weekdays": [1, 3], "time": "07:30"}]"#, "073013"),
      (
        #"[{"type": "Run", "weekdays": [3, 1], "time": "07:30"}, {"type": "Swim", "weekdays": [3, 5], "time": "07:30"}]"#,
        "0730135"
      ),
      (#"[{"weekdays": [7], "time": "18:00"}, {"weekdays": [1], "time": "06:00"}]"#, "06001 18007"),
      (#"[{"weekdays": [1], "time": "06:00"}, {"weekdays": [8], "time": "07:00"}]"#, ""),
      (#"[{"weekdays": [1], "time": "06:00"}, 7]"#, ""), (#"[{"weekdays": [], "time": "06:00"}]"#, ""),
      (#"[{"weekdays": "1", "time": "06:00"}]"#, ""), (#"[{"weekdays": [1]}]"#, ""), ("[]", ""), ("{}", ""),
      ("null", ""),
    ])
  func workouts(schedule: String, expected: String) async throws {
    let reminders = #"{"workout_reminders": true, "workout_schedule": \#(schedule)}"#
    #expect(try await Self.slots("workout", reminders) == expected)
  }

  @Test(
    "words that are not known are silence with its reason; no word, and no, need none",
    arguments: [
      ("morning", "morning_greeting", #""morning_time": "noon""#),
      ("workout", "workout_reminders", #""workout_schedule": [{"weekdays": ["monday"], "time": "07:30"}]"#),
      ("meal", "meal_reminders", nil), ("hydration", "hydration_reminders", #""hydration_frequency": "often""#),
    ] as [(String, String, String?)])
  func reasons(campaign: String, switch name: String, word: String?) async throws {
    let scene = try await EngagementScene()
    // Rows are measured as they are stored, so compressed.
    let large = (0..<10_000).map { _ in String(Int.random(in: 0...999_999)) }.joined(separator: " ")
    let unreadable =
      [
        #"{"\#(name)": "yes"}"#, #"{"\#(name)": 1}"#, "[true]", #""\#(name)""#, "7",
        #"{"\#(name)": true, "more": "\#(large)"}"#,
      ] + (word.map { [#"{"\#(name)": true, \#($0)}"#] } ?? [])
    for reminders in unreadable {
      let user = try await scene.addUser(reminders: reminders)
      let refusal = try await scene.audience(campaign, "refusal", of: user)
      #expect(refusal == "preferences_unreadable", "\(reminders.prefix(60))")
      let standing = try await scene.database.sql(
        "select \(CampaignScene.refusal(of: "'{\(user)}'", in: campaign))")
      #expect(standing == "preferences_unreadable", "\(reminders.prefix(60))")
    }
    for reminders in [nil, "null", "{}", #"{"\#(name)": false}"#, #"{"\#(name)": null}"#] {
      let user = try await scene.addUser(reminders: reminders)
      #expect(try await scene.audience(campaign, "count(*)", of: user) == "0", "\(reminders ?? "nil")")
    }
  }

  @Test("a schedule has 24 entries at most, and 10,000 do no harm", arguments: [24, 25, 10_000])
  func schedules(count: Int) async throws {
    let scene = try await EngagementScene()
    let user = try await scene.addUser()
    try await scene.database.sql(
      """
      update context_profiles
      set reminder_preferences = jsonb_build_object('workout_reminders', true, 'workout_schedule', (
        select jsonb_agg('{"type": "Run", "weekdays": [1], "time": "07:30"}'::jsonb) from generate_series(1, \(count))))
      """)
    let isRead = try await scene.audience("workout", "refusal is null", of: user)
    #expect(isRead == (count == 24 ? "t" : "f"))
    try await Self.enrol("workout", in: scene)
    #expect(try await Self.slots("workout", of: user, in: scene) == (count == 24 ? "07301" : ""))
  }

  @Test("follow changed preferences and zones; slots that the user has chosen stay")
  func changes() async throws {
    let scene = try await EngagementScene()
    let user = try await scene.addUser(reminders: #"{"morning_greeting": true, "morning_time": "06:45"}"#)
    try await Self.enrol("morning", in: scene)
    func change(_ json: String) async throws -> String {
      try await scene.database.sql("update context_profiles set reminder_preferences = '\(json)'")
      try await Self.enrol("morning", in: scene)
      return try await Self.slots("morning", of: user, in: scene)
    }
    #expect(try await change(#"{"morning_greeting": true, "morning_time": "07:15"}"#) == "0715")
    // Nothing has changed, so nothing is written.
    let before = try await scene.database.sql("select xmin from tacet.slots")
    try await Self.enrol("morning", in: scene)
    #expect(try await scene.database.sql("select xmin from tacet.slots") == before)
    try await scene.database.sql("update context_profiles set time_zone = 'Asia/Tokyo'")
    try await Self.enrol("morning", in: scene)
    #expect(try await scene.database.sql("select slot, time_zone, is_chosen from tacet.slots") == "0715|Asia/Tokyo|f")
    try await scene.database.sql(
      """
      select tacet.choose_slots('morning', '\(user)', true, '[{"slot": "0900", "is_enabled": true}]', 'Asia/Tokyo', 0)
      """)
    #expect(try await change(#"{"morning_greeting": true, "morning_time": "05:00"}"#) == "0900")
  }

  @Test("what a user changes during a look at the audience stays: a choice, and the zone", arguments: [true, false])
  func meanwhile(isChoice: Bool) async throws {
    let scene = try await EngagementScene()
    let user = try await scene.addUser(reminders: #"{"morning_greeting": true}"#, zone: "UTC")
    try await Self.enrol("morning", in: scene)
    let look = """
      (select f.moved from tacet.campaigns c
       cross join lateral tacet.follow_audience('morning', c.definition -> 'slots', '{\(user)}', 0) f where c.name = 'morning')
      """
    let (found, change) =
      isChoice
      ? (
        #"reminder_preferences = '{"morning_greeting": true, "morning_time": "09:00"}'"#,
        #"select tacet.choose_slots('morning', '\#(user)', false, '[{"slot": "0800", "is_enabled": true}]', 'UTC', 0)"#
      )
      : (
        "time_zone = 'Europe/Vienna'", "update public.context_profiles set time_zone = 'Asia/Tokyo'; select \(look)"
      )
    try await scene.database.sql("update context_profiles set \(found)")
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin; \(change)", on: reactor)
      let later = Begun.begin(on: reactor) { try await second.value(look, on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      #expect(try await later.value(on: reactor) == "0")
    }
    let slots = try await scene.database.sql("select slot, is_on, is_chosen, time_zone from tacet.slots")
    #expect(slots == (isChoice ? "0800|f|t|UTC" : "0800|t|f|Asia/Tokyo"))
  }

  @Test(
    "slots of a host's audience are read as a whole, each time once; a list that is wrong keeps back its user alone",
    arguments: [
      (#"[{"slot": "0900"}, {"slot": "0900", "weekdays": [1]}, {"slot": "0700", "phase": "early"}]"#, "0700 0900"),
      (#"[{"slot": "0900", "weekdays": [3, 1, 1.0, 3]}]"#, "090013"),
      (#"[{"slot": "0900", "weekdays": null}]"#, "0900"),
      (#"[{"slot": "9900"}]"#, ""), (#"[{"slot": 900}]"#, ""), (#"[{"slot": "0900", "phase": "Early"}]"#, ""),
      (#"[{"slot": "0900", "weekdays": [0]}]"#, ""), (#"[{"slot": "0900", "weekdays": [1.5]}]"#, ""),
      (#"[{"slot": "0900", "weekdays": ["1"]}]"#, ""), (#"[{"slot": "0900", "weekdays": []}]"#, ""),
      (#"[{"slot": "0900", "weekdays": "1"}]"#, ""), (#"[{"slot": "0900"}, 7]"#, ""), ("[]", ""), ("{}", ""), ("7", ""),
    ])
  func hostile(slots: String, expected: String) async throws {
    let scene = try await EngagementScene()
    let (user, other) = (try await scene.addUser(), try await scene.addUser())
    try await scene.database.sql(
      """
      create function public.everybody(moment timestamptz, only_user uuid)
      returns table (user_id uuid, time_zone text, gap_days int, slots jsonb) language sql stable as $$
        select p.user_id, 'UTC', 1, case when p.user_id::text = '\(user)' then '\(slots)'::jsonb else '[{"slot": "0600"}]' end
        from public.context_profiles p
      $$;
      update tacet.campaigns set audience = 'public.everybody' where name = 'morning'
      """)
    try await Self.enrol("morning", in: scene)
    #expect(try await Self.slots("morning", of: user, in: scene) == expected)
    #expect(try await Self.slots("morning", of: other, in: scene) == "0600")
    // Nothing is left to do, or a service would look again at once.
    let more = try await scene.database.sql(
      """
      select sum(e.enrolled), sum(e.moved)
      from (values (true), (false)) as n (are_new)
      cross join lateral tacet.enrol_slots('morning', '[]', n.are_new, null, 100, 0) e
      """)
    #expect(more == "0|0")
  }

  @Test(
    "what users wish, and what is known of them, is computed once for each",
    arguments: [
      ("morning", "known_facts 3"), ("workout", "known_facts 3, workout_slots 6"), ("meal", "known_facts 3"),
      ("hydration", "hydration_slots 6"), ("lapse", "known_facts 3"),
    ])
  func once(campaign: String, calls: String) async throws {
    let scene = try await EngagementScene()
    let reminders = #"""
      {"morning_greeting": true, "workout_reminders": true, "meal_reminders": true, "hydration_reminders": true,
      "workout_schedule": [{"type": "Run", "weekdays": [1], "time": "07:30"}], "hydration_frequency": "hourly"}
      """#
    for _ in 0..<3 { _ = try await scene.addUser(reminders: reminders) }
    // Who looks at an audience asks for slots, and who renders for the material.
    let asks =
      campaign == "lapse"
      ? "perform tacet.lapse_material(p.user_id, now()) from context_profiles p;"
      : """
      perform tacet.follow_audience(c.name, c.definition -> 'slots', users, 0) from tacet.campaigns c where c.name = '\(campaign)';
      perform count(s.material) from tacet.campaign_situations('\(campaign)', users) s;
      """
    let counted = try await scene.database.sql(
      """
      begin;
      set local track_functions = 'all';
      do $$
      declare
        users uuid[] := array(select user_id from context_profiles);
      begin
        \(asks)
      end
      $$;
      select string_agg(f.funcname || ' ' || f.calls, ', ' order by f.funcname)
      from pg_stat_xact_user_functions f
      where f.funcname in ('known_facts', 'workout_slots', 'hydration_slots');
      commit
      """)
    #expect(counted == calls)
  }

  @Test("a host without these columns has campaigns that do nothing")
  func inactive() async throws {
    let database = try await TestDatabase.migrated()
    let active = try await database.sql(
      "select name from tacet.campaigns where is_active and name in ('lapse', 'morning', 'workout', 'meal', 'hydration')"
    )
    #expect(active == "")
  }
}
