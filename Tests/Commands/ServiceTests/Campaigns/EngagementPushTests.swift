import Foundation
import Simulators
import TestRepository
import Testing

@Suite("Pushes of engagement", .serialized)
struct EngagementPushTests {
  private struct Payload: Decodable {
    struct Notice: Decodable {
      struct Alert: Decodable {
        let title: String
        let body: String
      }

      let alert: Alert
      let category: String
      let level: String?

      enum CodingKeys: String, CodingKey {
        case alert, category
        case level = "interruption-level"
      }
    }

    let aps: Notice
    let type: String
    let user_id: String?
    let workoutType: String?
    let identifier: String?
  }

  /// A user of the coach's who was last active four days ago.
  private static func prepare(_ coach: CoachScene) async throws -> CoachUser {
    try await coach.scene.sql("\\i '\(Repository.file("db/examples/engagement.sql").path)'")
    let user = CoachUser(.away)
    try await coach.add([user])
    try await coach.scene.sql(
      """
      update context_profiles
      set communication_preferences = '{"absence_response": "light_nudge", "preferred_times": [], "frequency": "daily"}';
      insert into tacet.activity (user_id, last_active, session_began_at)
      values ('\(user.id)', now() - interval '4 days', now() - interval '4 days')
      """)
    return user
  }

  private static func record(_ coach: CoachScene) async throws -> (record: APNSPushRecord, payload: Payload) {
    try #require(await coach.scene.simulator.waitForPushes(1, within: .seconds(60)))
    let record = try #require(coach.scene.simulator.service.withLog { $0.records(PushQuery()).records.first })
    return (record, try JSONDecoder().decode(Payload.self, from: Data(record.payload.utf8)))
  }

  @Test(
    "a lapsed user is asked back, by the model or, where that takes longer than it may, by the template",
    arguments: [
      (0, 10, "Hello | A first step?"),
      (30_000, 2, "We miss you!|Your coach is waiting to help you get back on track."),
    ])
  func lapse(delay: Int, limit: Int, text: String) async throws {
    let script = ModelScript(.init(.reply("Hello | A first step?"), delayMilliseconds: delay))
    try await CoachScene.play(script, settings: ["LANGUAGE_MODEL_MILLISECONDS": "60000"]) { coach, service in
      let user = try await Self.prepare(coach)
      try await coach.scene.sql(
        "update tacet.campaigns set definition = jsonb_set(definition, '{composer,seconds}', '\(limit)') where name = 'lapse'"
      )
      let path = "/v1/push-trigger?campaign=lapse"
      let answer = try await HTTPAnswer.ask("POST", path, at: service.origin, prefer: "wait=30")
      #expect(answer.status == 200 && answer.json["committed"] as? Int == 1, "\(answer.text)")
      let (record, payload) = try await Self.record(coach)
      let parts = text.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      #expect([payload.aps.alert.title, payload.aps.alert.body] == parts)
      #expect(payload.type == "reengagement" && payload.user_id == user.id)
      #expect(payload.aps.category == "RE_ENGAGEMENT" && payload.aps.level == "time-sensitive")
      #expect(record.collapseID == "lapse_4")
      #expect(try await coach.scene.settle(within: .seconds(60)) == [:])
      // Its limit and what a busy machine adds, and not the half minute of the model.
      let taken = try await coach.scene.sql(
        "select extract(epoch from changed_at - rendered_at) < 20 from tacet.occasions where campaign = 'lapse'"
      )
      #expect(taken == "t")
      #expect(try await coach.scene.sql("select re_engagement_attempts from tacet.activity") == "1")
      #expect(try await coach.explain(user, campaign: "lapse").contains("A push was sent."))
    }
  }

  @Test("a workout that was put off comes once, also when the service is killed meanwhile")
  func snooze() async throws {
    let coach = try await CoachScene()
    let user = try await Self.prepare(coach)
    // Half a day from now, so that nothing else is due.
    let slot = try await coach.scene.sql("select to_char(now() at time zone 'UTC' + interval '12 h', 'HH24MI')")
    try await coach.scene.sql(
      """
      update context_profiles set time_zone = 'UTC', reminder_preferences = jsonb_build_object(
        'workout_reminders', true, 'workout_schedule', jsonb_build_array(jsonb_build_object(
          'type', 'Run', 'weekdays', '[1, 2, 3, 4, 5, 6, 7]'::jsonb, 'time', overlay('\(slot)' placing ':' from 3 for 0))));
      insert into tacet.slots (user_id, campaign, slot, time_zone, next_fire_at, available_at)
      values ('\(user.id)', 'workout', '\(slot)', 'UTC', now() + interval '12 h', now() + interval '11 h');
      insert into tacet.occasions (
        fire_at, available_at, fire_date, user_id, campaign, slot, time_zone, status, title, body, category, data
      )
      values (now(), now(), current_date, '\(user.id)', 'workout', '\(slot)', 'UTC', 'sent', 'Workout Time! 🏋️', 'Go.', 'WORKOUT',
        json_build_object('workoutType', 'Run', 'identifier', 'workout.\(slot).' || current_date))
      """)
    let first = try await coach.scene.startService()
    let answer = try await coach.scene.sql(
      """
      select a.answer
      from tacet.occasions o,
        tacet.report_slot_action(o.user_id, gen_random_uuid(), 'SNOOZE_30', 'workout.\(slot).' || o.fire_date, now()) a
      where o.campaign = 'workout'
      """)
    #expect(answer == #"{"snoozed": true}"#)
    try await first.process.signal(SIGKILL)
    _ = try await first.process.exitCode()
    // Thirty minutes later.
    try await coach.scene.sql(
      """
      update tacet.pushes set send_at = now() + interval '1 s';
      update tacet.inbox set available_at = now() + interval '1 s'
      """)
    let second = try await coach.scene.startService()
    let (record, payload) = try await Self.record(coach)
    #expect(payload.aps.alert.title == "Workout Time! 🏋️" && payload.aps.category == "WORKOUT")
    #expect(payload.workoutType == "Run" && payload.type == "workout")
    #expect(record.collapseID?.hasPrefix("workout_") == true)
    #expect(try await coach.scene.settle(within: .seconds(60)) == [:])
    #expect(coach.scene.simulator.service.withLog { $0.records(PushQuery()).records.count } == 1)
    try await second.stop()
    await coach.stop()
  }
}
