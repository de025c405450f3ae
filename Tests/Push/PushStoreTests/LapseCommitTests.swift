import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Attempts to bring users back")
struct LapseCommitTests {
  private static let absence =
    #"{"absence_response": "check_in_on_me", "preferred_times": [], "frequency": "daily"}"#
  private static let push = WrittenCampaignPush(
    pushType: "reengagement", title: "We miss you!", body: "Come.", data: #"{"days_away": "4", "user_id": "x"}"#,
    metadata: #"{"campaign": "lapse", "layer": "lapse"}"#)

  private static func attempts(of user: HostID, in scene: EngagementScene) async throws -> String {
    try await scene.database.sql(
      "select re_engagement_attempts, re_engaged_at is not null from tacet.activity where user_id = '\(user)'")
  }

  @Test("are counted with the push, and start anew when the user returns and lapses again")
  func attempts() async throws {
    let scene = try await EngagementScene()
    let user = try await scene.addUser(absence: Self.absence, idle: "4 days")
    let turn = try #require(try await scene.campaigns.claimed(campaign: "lapse").first)
    #expect(try await Self.attempts(of: user, in: scene) == "0|f")
    guard case .committed = try await scene.campaigns.commit(turn, Self.push) else { throw Unexpected() }
    #expect(try await Self.attempts(of: user, in: scene) == "1|t")
    let shown = try await scene.database.sql(
      """
      select kind, presentation ->> 'category', presentation ->> 'interruption_level', presentation ->> 'collapse_id'
      from tacet.pushes
      """)
    #expect(shown == "reengagement|RE_ENGAGEMENT|time-sensitive|lapse_4")
    #expect(try await scene.audience("lapse", "refusal", of: user) == "asked_recently")
    try await scene.database.sql("select tacet.note_activity('\(user)')")
    #expect(try await Self.attempts(of: user, in: scene) == "0|t")
    #expect(try await scene.audience("lapse", "refusal", of: user) == "not_lapsed")
    try await scene.database.sql("update tacet.activity set last_active = now() - interval '3 days 1 s'")
    #expect(try await scene.audience("lapse", "refusal", of: user) == "")
  }

  @Test("are not made for a user who is back by then, or has changed the wish")
  func back() async throws {
    for (change, reason) in [
      ("select tacet.note_activity(user_id) from tacet.activity", "not_lapsed"),
      ("update context_profiles set communication_preferences = null", "no_preference"),
      (
        "update context_profiles set communication_preferences = '{\"absence_response\": \"give_me_space\"}'",
        "space_wanted"
      ),
    ] {
      let scene = try await EngagementScene()
      let user = try await scene.addUser(absence: Self.absence, idle: "4 days")
      let turn = try #require(try await scene.campaigns.claimed(campaign: "lapse").first)
      try await scene.database.sql(change)
      #expect(try await scene.campaigns.commit(turn, Self.push) == .refused(reason))
      #expect(try await Self.attempts(of: user, in: scene) == "0|f")
      #expect(try await scene.database.sql("select count(*) from tacet.pushes") == "0")
    }
  }

  @Test("share the coach's cap: of both on two replicas at once, one pushes", arguments: [true, false])
  func race(coachFirst: Bool) async throws {
    let scene = try await EngagementScene()
    let user = try await scene.addUser(absence: Self.absence, idle: "4 days")
    try await scene.database.sql("update context_profiles set notification_preferences = '\(CampaignScene.daily)'")
    let lapse = try #require(try await scene.campaigns.claimed(campaign: "lapse").first)
    let coach = try #require(try await scene.campaigns.claimed(campaign: "coach").first)
    #expect([lapse.userID, coach.userID] == [user, user])
    let turns = coachFirst ? [coach, lapse] : [lapse, coach]
    @Sendable func reason(_ turn: CampaignTurn) -> String {
      "select coalesce(c.reason, 'sent') from \(turn.commitment) c"
    }
    try await withTwoSessions(scene.database) { first, second, reactor in
      try await first.run("begin", on: reactor)
      #expect(try await first.value(reason(turns[0]), on: reactor) == "sent")
      let begun = Begun.begin(on: reactor) { try await second.value(reason(turns[1]), on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      #expect(try await begun.value(on: reactor) == "pushed_today")
    }
    #expect(try await scene.database.sql("select count(*) from tacet.pushes") == "1")
    #expect(try await Self.attempts(of: user, in: scene) == (coachFirst ? "0|f" : "1|t"))
  }

  private struct Unexpected: Error {}
}
