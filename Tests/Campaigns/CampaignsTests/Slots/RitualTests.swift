import Foundation
import PrometheusMetrics
import PushRules
import PushStore
import Reactors
import TestPostgres
import Testing

@testable import Campaigns

@Suite("Rituals")
struct RitualTests {
  /// Pushes of a user: title, body without its action, category, thread, and the data that does not change by day.
  private static let pushes = """
    select p.title, p.body ~ '^.+ [(][0-9]+ sec[)]$', p.presentation ->> 'category', p.data ->> 'action',
      p.data ->> 'phase', p.data ->> 'slot', (p.data ->> 'micro_action')::int between 0 and 6, p.kind, p.quiet_policy
    from tacet.pushes p join tacet.inbox i on i.subject_id = tacet.subject_of(p.id) and i.kind = p.kind
    order by p.data ->> 'slot'
    """

  @Test(
    "say what fits terrain, phase and streak",
    arguments: [
      ("cold_deficient", 3, "Your Low Flame body thrives with warmth", "Time to settle your Low Flame pattern"),
      ("warm_excess", 3, "Your Low Flame body thrives with calm", "Time to settle your Low Flame pattern"),
      ("neutral_balanced", 4, "Day 4 — your Low Flame rhythm", "Day 4 — wind-down time"),
    ])
  func texts(terrain: String, streak: Int, morning: String, evening: String) async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser(terrain: terrain, streak: streak)
    try await scene.withRunner { runner, _, _, reactor in
      await runner.lookAtSlots(on: reactor)
      try await scene.openLead()
      await runner.lookAtSlots(on: reactor)
      #expect(
        try await scene.rows(of: user, "slot, phase, status").split(separator: "\n").sorted() == [
          "0800|morning|scheduled", "2000|evening|scheduled",
        ])
      // One after the other: of two that are due at once the later one is sent.
      for slot in ["0800", "2000"] {
        try await scene.makeDue("slot = '\(slot)'")
        await runner.lookAtSlots(on: reactor)
      }
    }
    #expect(try await scene.rows(of: user, "status").split(separator: "\n") == ["sent", "sent"])
    #expect(
      try await scene.sql(Self.pushes) == """
        \(morning)|t|TERRAIN_RITUAL|open_do|morning|0800|t|ritual|drop
        \(evening)|t|TERRAIN_RITUAL|open_do|evening|2000|t|ritual|drop
        """)
  }

  @Test("a row carries its identifier, thread and day")
  func identifiers() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    try await scene.withRunner { runner, _, _, reactor in
      await runner.lookAtSlots(on: reactor)
      try await scene.openLead()
      await runner.lookAtSlots(on: reactor)
      try await scene.makeDue("slot = '0800'")
      await runner.lookAtSlots(on: reactor)
    }
    let wrong = """
      select count(*) from tacet.pushes p join tacet.occasions d on d.push_id = p.id
      where p.user_id = '\(user)' and p.collapse_id = 'ritual.0800.' || d.fire_date
        and p.presentation ->> 'thread_id' = 'ritual.' || d.fire_date and p.data ->> 'fire_date' = d.fire_date::text
        and p.metadata ->> 'campaign' = 'ritual' and p.send_at = d.fire_at
      """
    #expect(try await scene.sql(wrong) == "1")
  }

  @Test("before onboarding a placeholder is sent, and it is replaced as soon as the terrain is known")
  func onboarding() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser(terrain: nil)
    try await scene.withRunner { _, scheduler, _, reactor in
      let before = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      #expect(Set(before.map(\.text.title)) == ["Good morning", "Good evening"])
      #expect(Set(before.map(\.text.body)) == ["Your daily routine is ready."])
      #expect(Set(before.map(\.text.category)) == ["TERRAIN_RITUAL"])
      #expect((13...14).contains(before.count))
      try await scene.sql("update terrain_profiles set terrain_type = 'warm_balanced', nickname = 'Still Water'")
      try await scheduler.userChanged(user, on: reactor)
      let after = try await scheduler.schedule(of: user, days: 7, rowsMax: 64, deviceToken: nil, on: reactor)
      #expect(
        Set(after.map(\.text.title)) == [
          "Your Still Water body thrives with calm", "Time to settle your Still Water pattern",
        ])
      #expect(after.map(\.identifier) == before.map(\.identifier))
    }
  }

  @Test("a streak ends today or yesterday, and gaps end it")
  func streak() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser()
    for (days, streak) in [
      ([0], 1), ([1], 1), ([2], 0), ([0, 1, 2], 3), ([1, 2, 3, 4], 4), ([0, 2, 3], 1), ([], 0),
    ] as [([Int], Int)] {
      try await scene.sql(
        """
        delete from daily_logs;
        insert into daily_logs (user_id, day, micro_action_completed_at)
        select '\(user)', date '2026-03-01' - n, now() from unnest('{\(days.map(String.init).joined(separator: ","))}'::int[]) n;
        """)
      #expect(
        try await scene.sql("select tacet.current_streak('\(user)', '2026-03-01')") == "\(streak)", "\(days)")
    }
  }

  @Test("of a day's reports that an action was done the first one counts")
  func completion() async throws {
    let scene = try await RitualScene()
    let user = try await scene.addUser(streak: 3)
    let today = "(now() at time zone '\(ZoneNearNoon.name)')::date"
    for moment in ["2026-03-01 08:00+00", "2026-03-01 09:00+00"] {
      let answer = try await scene.sql("select tacet.ritual_action('\(user)', 'DID_THIS', \(today), '\(moment)')")
      #expect(answer == #"{"streak": 4}"#)
    }
    #expect(
      try await scene.sql(
        "select count(*) from daily_logs where day = \(today) and micro_action_completed_at = '2026-03-01 08:00+00'")
        == "1")
    #expect(try await scene.sql("select tacet.ritual_action('\(user)', 'START_RITUAL', \(today), now())") == "{}")
  }

  @Test("what devices report is counted by code and campaign, and what names no campaign of the database for none")
  func reports() async throws {
    let scene = try await RitualScene()
    let registry = PrometheusRegistry([MetricDescription("tacet_slot_codes_total", "", .counter)])
    let identifiers = ["ritual.0800.2026-11-22", "ritual.2000.2026-11-22", "made_up.0800.2026-11-22", nil]
    try await scene.withRunner(registry: registry) { _, scheduler, _, reactor in
      let events = identifiers.map {
        SlotEvent(id: UUID(), code: .armed, row: $0.flatMap(SlotIdentifier.init), deviceToken: nil, happenedAt: 0)
      }
      try await scheduler.count(events, on: reactor)
    }
    let samples = ExpositionText.make(registry.collect()).split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(
      samples.sorted() == [
        #"tacet_slot_codes_total{campaign="none",code="armed"} 2"#,
        #"tacet_slot_codes_total{campaign="ritual",code="armed"} 2"#,
      ])
  }
}
