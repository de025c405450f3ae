import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Who is asked to come back")
struct LapseAudienceTests {
  /// Of every look, so that no test depends on how long it takes.
  private static let moment = "timestamptz '2026-11-22 12:00Z'"

  private static func wishes(
    _ response: String = "check_in_on_me", times: String = #"["morning"]"#, frequency: String = "daily"
  ) -> String {
    #"{"absence_response": "\#(response)", "preferred_times": \#(times), "frequency": "\#(frequency)"}"#
  }

  private static func refusal(
    _ absence: String?, idle: String? = "4 days", attempts: Int = 0, askedAgo: String? = nil
  ) async throws -> String {
    let scene = try await EngagementScene()
    let user = try await scene.addUser(
      absence: absence, idle: idle, attempts: attempts, askedAgo: askedAgo, at: moment)
    return try await scene.audience("lapse", "refusal", of: user, at: moment)
  }

  @Test(
    "who has been away for more than three days, exactly",
    arguments: [
      (nil, "activity_unknown"), ("1 day", "not_lapsed"), ("1 day 0.000001 s", "not_lapsed"), ("3 days", "not_lapsed"),
      ("3 days 0.000001 s", ""),
      ("7 days", ""), ("7 days 0.000001 s", ""), ("90 days", ""),
    ] as [(String?, String)])
  func classes(idle: String?, refusal: String) async throws {
    #expect(try await Self.refusal(Self.wishes(), idle: idle) == refusal)
  }

  @Test(
    "nobody whose preferences are missing, unreadable or unknown",
    arguments: [
      nil, "null", "{}", "[]", "1", #""check_in_on_me""#, wishes("be_quiet"), wishes(frequency: "hourly"),
      #"{"absence_response": "check_in_on_me"}"#,
      #"{"absence_response": ["check_in_on_me"], "frequency": "daily"}"#,
      #"{"absence_response": "light_nudge", "frequency": null}"#,
    ] as [String?])
  func unreadable(absence: String?) async throws {
    #expect(try await Self.refusal(absence) == "no_preference")
  }

  @Test(
    "nobody whose preferred times are another word or another type",
    arguments: [#"["noon"]"#, #"["morning", "noon"]"#, "7", #"{"at": "morning"}"#, "true"])
  func unreadableTimes(times: String) async throws {
    #expect(try await Self.refusal(Self.wishes(times: times)) == "preferences_unreadable")
  }

  @Test(
    "as the user wants to be treated: how often, and how many times",
    arguments: [
      ("give_me_space", "daily", 0, nil, "space_wanted"), ("light_nudge", "never", 0, nil, "never_wanted"),
      ("light_nudge", "daily", 0, nil, ""), ("light_nudge", "daily", 0, "6 days", "asked_recently"),
      ("light_nudge", "daily", 1, "6 days", "asked_recently"), ("light_nudge", "daily", 1, "7 days", ""),
      ("light_nudge", "daily", 2, "7 days", ""), ("light_nudge", "daily", 3, "90 days", "attempts_spent"),
      ("check_in_on_me", "weekly", 0, nil, ""), ("check_in_on_me", "daily", 0, "1 day", ""),
      ("check_in_on_me", "daily", 1, "2 days", "asked_recently"), ("check_in_on_me", "daily", 1, "3 days", ""),
      ("check_in_on_me", "daily", 2, "6 days", "asked_recently"), ("check_in_on_me", "daily", 2, "7 days", ""),
      ("check_in_on_me", "daily", 3, "13 days", "asked_recently"), ("check_in_on_me", "daily", 3, "14 days", ""),
      ("check_in_on_me", "daily", 4, "29 days", "asked_recently"), ("check_in_on_me", "daily", 4, "30 days", ""),
      ("check_in_on_me", "daily", 5, "900 days", "attempts_spent"),
    ] as [(String, String, Int, String?, String)])
  func responses(
    response: String, frequency: String, attempts: Int, askedAgo: String?, refusal: String
  ) async throws {
    let absence = Self.wishes(response, frequency: frequency)
    #expect(try await Self.refusal(absence, idle: "100 days", attempts: attempts, askedAgo: askedAgo) == refusal)
  }

  @Test(
    "at the time that the user prefers, and with the pause between pushes that the user wants",
    arguments: [
      (#"["morning"]"#, "daily", "09:00:00|1"), (#""morning""#, "few_times_a_week", "09:00:00|2"),
      (#"["evening"]"#, "weekly", "19:00:00|7"), (#"["evening", "morning"]"#, "daily", "09:00:00|1"),
      ("[]", "daily", "10:00:00|1"), ("null", "daily", "10:00:00|1"),
    ])
  func times(times: String, frequency: String, expected: String) async throws {
    let scene = try await EngagementScene()
    let user = try await scene.addUser(absence: Self.wishes(times: times, frequency: frequency), idle: "4 days")
    #expect(try await scene.audience("lapse", "local_time, gap_days", of: user) == expected)
  }

  @Test(
    "nobody whom the coach has asked back within seven days",
    arguments: [("7 days -0.000001 s", "asked_by_coach"), ("7 days", "")])
  func coach(ago: String, refusal: String) async throws {
    let scene = try await EngagementScene()
    let user = try await scene.addUser(absence: Self.wishes(), idle: "20 days", at: Self.moment)
    try await scene.database.sql(
      """
      insert into tacet.push_log (id, subject_id, user_id, push_type, decision, sent_at)
      values ('\(UUID())', '\(HostID.new())', '\(user)', 're_engagement', 'sent', \(Self.moment) - interval '\(ago)')
      """)
    #expect(try await scene.audience("lapse", "refusal", of: user, at: Self.moment) == refusal)
  }

  @Test("an hour of a zone is enrolled for the time that each user prefers, and a request for now")
  func enrolment() async throws {
    let scene = try await EngagementScene()
    let zone = "Asia/Kolkata"
    var users: [String: HostID] = [:]
    for time in ["[]", #"["morning"]"#, #"["evening"]"#] {
      users[time] = try await scene.addUser(absence: Self.wishes(times: time), idle: "4 days", zone: zone)
    }
    _ = try await scene.addUser(absence: Self.wishes("give_me_space"), idle: "4 days", zone: zone)
    let day = "(now() at time zone '\(zone)')::date"
    #expect(
      try await scene.database.sql(
        """
        select enrolled
        from tacet.enrol_campaign('lapse', tacet.civil_instant(\(day) + time '09:00', '\(zone)'), '{\(zone)}')
        """)
        == "3")
    let due = try await scene.database.sql(
      """
      select (fire_at at time zone '\(zone)')::time, available_at = greatest(fire_at, rendered_at) or available_at > fire_at
      from tacet.occasions order by fire_at
      """)
    #expect(due == "09:00:00|t\n10:00:00|t\n19:00:00|t")
    try await scene.database.sql("delete from tacet.occasions")
    try await scene.database.sql("select tacet.enrol_campaign('lapse', now())")
    #expect(try await scene.database.sql("select count(*) from tacet.occasions where fire_at <= now()") == "3")
  }
}

@Suite("Attempts to bring users back")
struct LapseCommitTests {
  private static let absence =
    #"{"absence_response": "check_in_on_me", "preferred_times": [], "frequency": "daily"}"#
  private static let push = WrittenPush(
    pushType: "reengagement", title: "We miss you!", body: "Come.", data: #"{"days_away": "4", "user_id": "x"}"#,
    findings: #"{"metadata": {"campaign": "lapse", "layer": "lapse"}}"#)

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
    @Sendable func reason(_ turn: Occasion) -> String {
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
