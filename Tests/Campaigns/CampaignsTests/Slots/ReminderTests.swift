import PushRules
import PushStore
import Reactors
import TestIDs
import TestLogs
import TestPostgres
import Testing

@testable import Campaigns

@Suite("Reminders that are due")
struct ReminderRunTests {
  private static let all = """
    {"morning_greeting": true, "workout_reminders": true, "meal_reminders": true, "hydration_reminders": true,
     "hydration_frequency": "tri_daily",
     "workout_schedule": [{"type": "Run", "weekdays": [1, 2, 3, 4, 5, 6, 7], "time": "07:30"}]}
    """

  private static func addUser(_ scene: CoachScene, facts: String = "{}", reminders: String = all) async throws -> HostID
  {
    // No reminder of its own day is near, which would be rendered besides.
    let user = try await scene.addUser(zone: ZoneNearNoon.name(at: 10))
    try await scene.sql(
      """
      update context_profiles set reminder_preferences = '\(reminders)', coaching_facts = '\(facts)'
      where user_id = '\(user)'
      """)
    return user
  }

  /// Renders all reminders as if they were due in ten minutes, and pushes them as if that time had come.
  /// - Parameter between: SQL that runs between both.
  private static func run(
    _ scene: CoachScene, _ writer: ScriptedWriter?, limits: ModelUsageLimits = .ample, dueIn: String = "10 min",
    pace: CampaignPace = CampaignPace(), between: String = ""
  ) async throws {
    try await scene.withSlotRunner(writer, limits: limits, pace: pace) { runner, _, reactor in
      try await scene.sql(
        """
        select tacet.enrol_slots(c.name, c.definition -> 'slots', true, null, 100, 0)
        from tacet.campaigns c where c.is_active and c.definition ? 'slots';
        update tacet.slots set next_fire_at = now() + interval '\(dueIn)', available_at = now() where next_fire_at is not null
        """)
      _ = await runner.prepareAll(on: reactor)
      try await scene.sql(
        """
        \(between.isEmpty ? "" : between + ";")
        update tacet.occasions set fire_at = now(), available_at = now() where status = 'scheduled'
        """)
      // Of several rows of a campaign that are due the last one is pushed, so they have one moment.
      _ = await runner.decideAll(.slots, on: reactor)
    }
  }

  private static func pushes(_ scene: CoachScene, _ columns: String) async throws -> [String] {
    try await scene.sql("select \(columns) from tacet.pushes where kind <> 'schedule_changed' order by 1")
      .split(separator: "\n").map(String.init)
  }

  @Test("have the texts of their kinds where no model is set up")
  func templates() async throws {
    let scene = try await CoachScene(with: "engagement")
    _ = try await Self.addUser(scene, facts: #"{"weather": "rainy", "streak": 0}"#)
    try await scene.sql(
      "insert into tacet.notif_config (name, value) values ('imageBaseURL', '\"https://images.example/\"')")
    try await Self.run(scene, nil)
    let shown = try await Self.pushes(
      scene,
      """
      kind || coalesce('.' || (data ->> 'phase'), ''), title, presentation ->> 'category', presentation ->> 'sound',
        presentation ->> 'image_url', regexp_replace(collapse_id, '[0-9]{6,}', 'N'), data ->> 'workoutType', data ->> 'mealType',
        presentation ->> 'interruption_level'
      """)
    #expect(
      shown == [
        "hydration|💧 Hydration Time!|HYDRATION|reminder.caf||hydration_reminder|||",
        "hydration|💧 Hydration Time!|HYDRATION|reminder.caf||hydration_reminder|||",
        "hydration|💧 Hydration Time!|HYDRATION|reminder.caf||hydration_reminder|||",
        "meal.breakfast|🍳 Breakfast Reminder|MEAL|reminder.caf||meal_breakfast||breakfast|",
        "meal.dinner|🍽️ Dinner Reminder|MEAL|reminder.caf||meal_dinner||dinner|",
        "meal.lunch|🥗 Lunch Reminder|MEAL|reminder.caf||meal_lunch||lunch|",
        "meal.snack|🍎 Snack Reminder|MEAL|reminder.caf||meal_snack||snack|",
        "morning|Good morning, Ada! ☀️|DAILY_CHECK||https://images.example/morning_rainy.png|morning_greeting|||",
        "workout|Workout Time! 🏋️|WORKOUT|reminder.caf||workout_N|Run||",
      ])
    let bodies = try await Self.pushes(scene, "body")
    #expect(bodies.allSatisfy { !$0.contains("[Content]") && !$0.contains("{") && !$0.contains("streak") })
  }

  @Test("have the model's body under their own title, and the model is asked once, before they are due")
  func model() async throws {
    let scene = try await CoachScene(with: "engagement")
    _ = try await Self.addUser(
      scene, facts: #"{"streak": 5, "sleep_quality": "good", "weather": "hail", "motivational_style": "rude"}"#)
    let writer = ScriptedWriter(.success("You can do it."))
    try await Self.run(scene, writer)
    #expect(
      try await Self.pushes(scene, "kind, title, body").filter { !$0.hasPrefix("hydration") && !$0.hasPrefix("meal") }
        == [
          "morning|Good morning, Ada! ☀️|You can do it.", "workout|Ready for today's Run?|You can do it.",
        ])
    #expect(writer.prompts.count == 6)
    #expect(writer.limits.allSatisfy { $0 == .seconds(2) })
    let morning = try #require(writer.prompts.map(\.material).first { $0.contains("sleep_quality") })
    #expect(morning.contains("sleep_quality: good") && morning.contains("motivational_style: encouraging"))
    #expect(morning.contains("streak: 5") && !morning.contains("weather"))
    let usage = try await scene.sql("select sum(calls), sum(input_tokens) from tacet.model_usage")
    #expect(usage == "6|600")
  }

  @Test("are written once, however often the user changes the slots, until what the model is told changes")
  func repeated() async throws {
    let scene = try await CoachScene(with: "engagement")
    let user = try await Self.addUser(scene, facts: #"{"streak": 5}"#)
    try await scene.sql("update tacet.campaigns set is_active = false where name <> 'meal'")
    let writer = ScriptedWriter(.success("You can do it."))
    for turn in 1...4 {
      // As a choice of slots does: what was rendered is cancelled, and the slots are due to be rendered.
      try await Self.run(scene, writer, between: "update tacet.occasions set status = 'cancelled'")
      #expect(writer.prompts.count == 4, "\(turn)")
    }
    try await scene.sql(
      "update context_profiles set coaching_facts = '{\"calories\": 1800}' where user_id = '\(user)'")
    try await Self.run(scene, writer)
    #expect(writer.prompts.count == 8)
    #expect(try await Self.pushes(scene, "body").allSatisfy { $0 == "You can do it." })
    #expect(try await scene.sql("select calls from tacet.model_usage") == "8")
  }

  @Test(
    "keep their templates where the model fails, writes what may not be sent, or has no budget or time left",
    arguments: ["failing", "bad", "budget", "late"],
    [("morning", "Good morning, Ada! ☀️", 1), ("workout", "Workout Time! 🏋️", 1), ("meal", " Reminder", 4)])
  func fallback(_ case: String, _ kind: (name: String, titleEnd: String, count: Int)) async throws {
    let scene = try await CoachScene(with: "engagement")
    _ = try await Self.addUser(scene)
    try await scene.sql("update tacet.campaigns set is_active = false where name <> '\(kind.name)'")
    let writer = ScriptedWriter(
      `case` == "failing"
        ? .failure(.timedOut) : .success(`case` == "bad" ? "a\nb" : "Fine."))
    try await Self.run(
      scene, writer,
      limits: `case` == "budget" ? ModelUsageLimits(tokensMax: 1, costMicrodollarsMax: 1) : .ample,
      dueIn: `case` == "late" ? "20 s" : "10 min")
    let pushes = try await Self.pushes(scene, "title, body").map { $0.split(separator: "|").map(String.init) }
    #expect(pushes.count == kind.count)
    #expect(pushes.allSatisfy { $0[0].hasSuffix(kind.titleEnd) && $0[1] != "Fine." && $0[1].count > 15 })
    #expect(writer.prompts.count == (["failing", "bad"].contains(`case`) ? kind.count : 0))
  }

  @Test(
    "are dropped when it is done already, also shortly before they are due",
    arguments: [
      (#"{"last_workout_at": "T1"}"#, "now() - interval '119 min'", "meal"),
      (#"{"last_workout_at": "T1"}"#, "now() - interval '121 min'", "meal workout"),
      (#"{"last_meal_at": "T1"}"#, "now() - interval '119 min'", "workout"),
      (#"{"last_meal_at": "yesterday"}"#, "now()", "meal workout"),
    ])
  func done(facts: String, at: String, expected: String) async throws {
    let scene = try await CoachScene(with: "engagement")
    let user = try await Self.addUser(
      scene,
      reminders: """
        {"workout_reminders": true, "meal_reminders": true,
         "workout_schedule": [{"type": "Run", "weekdays": [1, 2, 3, 4, 5, 6, 7], "time": "07:30"}]}
        """)
    try await Self.run(
      scene, nil,
      between: "update context_profiles set coaching_facts = replace('\(facts)', 'T1', (\(at))::text)::jsonb")
    let kinds = try await scene.sql("select string_agg(distinct kind, ' ' order by kind) from tacet.pushes")
    #expect(kinds == expected)
    let reasons = try await scene.sql(
      "select string_agg(distinct reason, ' ') from tacet.occasions where user_id = '\(user)'")
    #expect(reasons == (expected == "meal workout" ? "" : "already_done"))
  }

  @Test(
    "are in the first schedule, also the one that is due within the lead, and a later one keeps what the model has written"
  )
  func firstSchedule() async throws {
    let scene = try await CoachScene(with: "engagement")
    let user = try await Self.addUser(scene, reminders: #"{"meal_reminders": true}"#)
    // Lunch comes in ten minutes.
    try await scene.sql(
      """
      update tacet.campaigns set definition = jsonb_set(definition, '{slots}', jsonb_build_array(jsonb_build_object(
        'slot', to_char(now() at time zone 'UTC' + interval '10 min', 'HH24MI'), 'phase', 'lunch'))) where name = 'meal';
      update context_profiles set time_zone = 'UTC'
      """)
    let writer = ScriptedWriter(.success("Soup is ready."))
    try await scene.withSlotRunner(writer) { runner, scheduler, reactor in
      let first = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor).first
      #expect(first?.text.title == "🥗 Lunch Reminder")
      let window = "select count(*) from tacet.occasions where status = 'scheduled'"
      #expect(try await scene.sql("\(window) and fire_at < now() + interval '20 min'") == "1")
      _ = await runner.prepareAll(on: reactor)
      try await scene.sql("delete from tacet.schedules")
      let later = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor).first
      #expect(later?.text.body == "Soup is ready.")
      #expect(writer.prompts.count == 1)
    }
  }

  @Test("are not sent to a user who has switched them off by then")
  func switchedOff() async throws {
    let scene = try await CoachScene(with: "engagement")
    _ = try await Self.addUser(scene)
    try await Self.run(scene, nil, between: "update context_profiles set reminder_preferences = null")
    #expect(try await Self.pushes(scene, "kind") == [])
    let reasons = try await scene.sql("select distinct status, reason from tacet.occasions")
    #expect(reasons == "skipped|not_in_audience")
  }
}

extension CoachScene {
  /// Runs a body with a runner of slots and a scheduler.
  func withSlotRunner(
    _ writer: ScriptedWriter?, limits: ModelUsageLimits = .ample, pace: CampaignPace = CampaignPace(),
    _ body: @escaping @Sendable (CampaignRunner, SlotScheduler, isolated Reactor) async throws -> Void
  ) async throws {
    try await withStore { store, reactor in
      let runner = CampaignRunner(
        store: store, writer: writer, limits: limits, pace: pace, logger: RunLogs.logger, queued: { _ in })
      try await body(runner, SlotScheduler(store: store, pace: pace, logger: RunLogs.logger), reactor)
    }
  }
}

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
    try await scene.withSlotRunner(writer) { runner, _, reactor in
      try await scene.sql("select tacet.enrol_slots('stretch', '[]', true, null, 10, 0)")
      #expect(
        try await scene.sql(
          "select string_agg(slot || array_to_string(weekdays, ''), ' ' order by slot) from tacet.slots")
          == "103012345 153012345")
      try await scene.sql("update tacet.slots set next_fire_at = now() + interval '10 min', available_at = now()")
      _ = await runner.prepareAll(on: reactor)
      try await scene.sql("update tacet.occasions set fire_at = now(), available_at = now()")
      _ = await runner.decideAll(.slots, on: reactor)
    }
    let shown =
      "title, body, presentation ->> 'category', collapse_id, data ->> 'screen', data ->> 'identifier' ~ '^stretch[.]1'"
    let pushed = try await scene.sql("select \(shown) from tacet.pushes where kind = 'stretch' limit 1")
    #expect(pushed == "Time to stretch 🧘|Reach for the ceiling, Ada.|STRETCH|stretch|stretching|t")
    let snoozed = try await scene.sql(
      """
      select answer from tacet.occasions d
      cross join lateral tacet.report_slot_action(
        '\(user)', gen_random_uuid(), 'SNOOZE_15', tacet.occasion_name(d), now()) r
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
    let waits = "select available_at > enqueued_at + interval '5 s' from tacet.inbox"
    #expect(try await scene.sql(waits) == "t")
    let reply: Result<String, LanguageModelError> =
      switch model {
      case "failing": .failure(.timedOut)
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
      #"{"task": "a", "facts": ["none"]}"#, #"{"task": "a", "seconds": 11}"#, #"{"task": "a", "seconds": "2"}"#,
      #"{"task": "a", "more": 1}"#, #"{"task": "a\nb"}"#,
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
