import PushKinds
import PushStore
import Reactors
import TestIDs
import Testing

@testable import Campaigns

@Suite("Reminders that a host adds", .uuidsOnly)
struct ReminderExampleTests {
  private static let chosen = """
    {"stretch_reminders": true, "stretch_times": ["10:30", "15:30"], "achievements": true}
    """

  private static func scene(_ example: String, preferences: String = chosen) async throws -> (CoachScene, HostID) {
    let scene = try await CoachScene(with: "engagement", example)
    let user = try await scene.addUser()
    try await scene.sql("update context_profiles set reminder_preferences = '\(preferences)'")
    return (scene, user)
  }

  @Test("a sixth reminder by SQL alone: its slots, its texts, its snooze, and the model's body")
  func stretching() async throws {
    let (scene, user) = try await Self.scene("stretching")
    let writer = ScriptedWriter(.success("Reach for the ceiling, Ada."))
    try await scene.withSlotRunner(writer) { runner, reactor in
      try await scene.sql("select tacet.enrol_slots('stretch', '[]', true, null, 10, 0)")
      #expect(
        try await scene.sql(
          "select string_agg(slot || array_to_string(weekdays, ''), ' ' order by slot) from tacet.slots")
          == "103012345 153012345")
      try await scene.sql("update tacet.slots set next_fire_at = now() + interval '10 min', available_at = now()")
      _ = await runner.renderAll(on: reactor)
      try await scene.sql("update tacet.notif_deliveries set fire_at = now(), available_at = now()")
      _ = await runner.pushAll(on: reactor)
    }
    let shown =
      "title, body, presentation ->> 'category', collapse_id, data ->> 'screen', data ->> 'identifier' ~ '^stretch[.]1'"
    let pushed = try await scene.sql("select \(shown) from tacet.pushes where kind = 'stretch' limit 1")
    #expect(pushed == "Time to stretch 🧘|Reach for the ceiling, Ada.|STRETCH|stretch|stretching|t")
    let snoozed = try await scene.sql(
      """
      select answer from tacet.notif_deliveries d
      cross join lateral tacet.report_slot_action(
        '\(user)', gen_random_uuid(), 'SNOOZE_15', 'stretch.' || d.slot || '.' || d.fire_date, 'stretch', d.slot, d.fire_date, now()) r
      limit 1
      """)
    #expect(snoozed == #"{"snoozed": true}"#)
  }

  @Test("times that cannot be read are silence", arguments: [#"["25:00"]"#, #"["10:30", 7]"#])
  func unreadable(times: String) async throws {
    let (scene, _) = try await Self.scene(
      "stretching", preferences: #"{"stretch_reminders": true, "stretch_times": \#(times)}"#)
    try await scene.sql("select tacet.enrol_slots('stretch', '[]', true, null, 10, 0)")
    #expect(try await scene.sql("select count(*) from tacet.slots") == "0")
  }

  @Test(
    "an achievement is told to who wants to hear of it",
    arguments: [(chosen, "1"), ("{}", "0"), (#"{"achievements": "yes"}"#, "0")])
  func achievement(preferences: String, recipients: String) async throws {
    let (scene, user) = try await Self.scene("achievement", preferences: preferences)
    let event = try await scene.sql(
      """
      insert into achievements (user_id, name, description) values ('\(user)', 'Early Bird', 'Five runs before eight.');
      select i.kind, c.content::json ->> 'title', c.content::json ->> 'body', c.content::json #>> '{presentation,category}',
        c.content::json #>> '{presentation,interruption_level}', c.content::json #>> '{presentation,sound}'
      from tacet.inbox i cross join lateral tacet.watched_row_content(i.kind, i.subject_id) c
      """)
    #expect(
      event
        == "achievement|🎉 Achievement Unlocked!|Incredible! You've earned 'Early Bird'. Five runs before eight.|ACHIEVEMENT|passive|achievement.caf"
    )
    let audience =
      "select count(*) from tacet.inbox i cross join lateral tacet.watched_row_audience(i.kind, i.subject_id, i.conversation_id) a"
    #expect(try await scene.sql(audience) == recipients)
  }
}
