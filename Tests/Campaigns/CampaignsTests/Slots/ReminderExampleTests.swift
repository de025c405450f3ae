import PushRules
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

  @Test("times that cannot be read are silence", arguments: [#"["25:00"]"#, #"["10:30", 7]"#, #""10:30""#, "7", "{}"])
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

  @Test(
    "an achievement has the model's body, told what the row knows, else its own; and the picture of its key",
    arguments: ["written", "failing", "bad", "none"])
  func congratulation(_ model: String) async throws {
    let (scene, user) = try await Self.scene("achievement")
    try await scene.sql(
      """
      insert into tacet.notif_config (name, value) values ('imageBaseURL', '"https://images.example/"');
      insert into achievements (user_id, name, description, streak, personal_best, image_key)
      values ('\(user)', 'Early Bird', 'Five runs before eight.', 5, '4:58 min/km', 'early_bird')
      """)
    let waits = "select available_at > clock_timestamp() + interval '5 s' from tacet.inbox"
    #expect(try await scene.sql(waits) == "t")
    let reply: Result<String, WritingFailure> =
      switch model {
      case "failing": .failure(WritingFailure("model_timed_out"))
      case "bad": .success("see www.example.com")
      default: .success("Five early runs, and faster than ever.")
      }
    let writer = ScriptedWriter(reply)
    try await scene.withRunner(model == "none" ? nil : writer) { runner, _, reactor in
      await runner.writeRowTexts(on: reactor)
      await runner.writeRowTexts(on: reactor)
    }
    #expect(try await scene.sql("select available_at <= clock_timestamp() from tacet.inbox") == "t")
    let shown = try await scene.sql(
      """
      select c.content::json ->> 'body', c.content::json #>> '{presentation,image_url}', c.content::json #> '{presentation,image_key}'
      from tacet.inbox i cross join lateral tacet.watched_row_content(i.kind, i.subject_id) c
      """)
    let own = "Incredible! You've earned 'Early Bird'. Five runs before eight."
    let body = model == "written" ? "Five early runs, and faster than ever." : own
    #expect(shown == "\(body)|https://images.example/early_bird.png|")
    #expect(writer.prompts.count == (model == "none" ? 0 : 1))
    guard model != "none" else { return }
    #expect(writer.limits == [.seconds(2)])
    for fact in ["name: Early Bird", "description: Five runs", "streak: 5", "personal_best: 4:58 min/km"] {
      #expect(writer.prompts[0].material.contains(fact), "\(fact)")
    }
  }

  @Test(
    "a composer that is none is refused by tacet.watch",
    arguments: [
      "[]", "{}", #"{"task": ""}"#, #"{"task": 1}"#, #"{"task": "a", "facts": "name"}"#,
      #"{"task": "a", "facts": ["none"]}"#,
      #"{"task": "a", "seconds": 11}"#, #"{"task": "a", "seconds": "2"}"#, #"{"task": "a", "more": 1}"#,
      #"{"task": "a\nb"}"#,
    ])
  func composers(_ composer: String) async throws {
    let (scene, _) = try await Self.scene("achievement")
    await #expect(throws: (any Error).self) {
      try await scene.sql(
        """
        select tacet.watch('achievement', 'public.achievements', 'public.achievement_recipients', 'Hi', composer => $$\(composer)$$)
        """)
    }
  }
}
