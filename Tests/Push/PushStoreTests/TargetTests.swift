import TestIDs
import TestPostgres
import Testing

@Suite("Targets that Tacet keeps itself")
struct TargetTests {
  @Test(
    "a token of FCM that was not heard of for 270 days is left out, and so is a subscription that has ended",
    arguments: [
      ("fcm", "registered_at", "now() - interval '270 days' + interval '1 minute'", true),
      ("fcm", "registered_at", "now() - interval '270 days'", false),
      ("web_push", "registered_at", "now() - interval '3 years'", true),
      ("web_push", "expires_at", "now() + interval '1 minute'", true), ("web_push", "expires_at", "now()", false),
      ("web_push", "dropped_at", "now()", false),
    ])
  func used(_ channel: String, _ column: String, _ value: String, _ isUsed: Bool) async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into tacet.targets (channel, address, user_id, \(column)) values ('\(channel)', 'x', '\(chat.reader)', \(value))
      """)
    let found = try await chat.database.sql(
      "select count(*) from tacet.push_targets('\(chat.reader)') where channel = '\(channel)'")
    #expect(found == (isUsed ? "1" : "0"))
  }

  @Test("devices of APNs come first, whoever registered last")
  func order() async throws {
    let chat = try await Chat()
    try await chat.register("aa01", ["registered_at": "now() - interval '1 day'"])
    try await chat.database.sql(
      "insert into tacet.targets (channel, address, user_id) values ('fcm', 'x', '\(chat.reader)')")
    let found = try await chat.database.sql(
      "select string_agg(address, ' ') from tacet.push_targets('\(chat.reader)') where address <> 'aa'")
    #expect(found == "aa01 x")
  }

  @Test("the zone of the newest of all of a user's devices counts")
  func zones() async throws {
    let chat = try await Chat()
    let zone = "select tacet.user_time_zone('\(chat.reader)')"
    try await chat.register("aa01", ["time_zone": "'Europe/Berlin'", "registered_at": "now() - interval '1 hour'"])
    #expect(try await chat.database.sql(zone) == "Europe/Berlin")
    try await chat.database.sql(
      """
      insert into tacet.targets (channel, address, user_id, time_zone) values ('web_push', 'x', '\(chat.reader)', 'Asia/Tokyo')
      """)
    #expect(try await chat.database.sql(zone) == "Asia/Tokyo")
    try await chat.database.sql("update tacet.targets set registered_at = now() - interval '2 hours'")
    #expect(try await chat.database.sql(zone) == "Europe/Berlin")
  }

  @Test(
    "a user whom only a browser or an Android app reaches is in all audiences, with that device's zone and locale",
    arguments: ["web_push", "fcm"])
  func audiences(channel: String) async throws {
    let scene = try await EngagementScene()
    let wishes =
      #"{"morning_greeting": true, "workout_reminders": true, "meal_reminders": true, "hydration_reminders": true}"#
    let user = try await scene.addUser(absence: "{}", reminders: wishes, idle: "4 days")
    let audiences = ["check_in", "lapse", "ritual", "morning", "workout", "meal", "hydration"].flatMap { name in
      ["'\(user)'", "null"].map { "select user_id, time_zone from tacet.\(name)_audience(now(), \($0))" }
    }
    let found = """
      select count(*) from (\(audiences.joined(separator: " union all "))) a
      where a.user_id = '\(user)' and a.time_zone = 'Asia/Tokyo'
      """
    try await scene.database.sql(
      """
      delete from push_tokens;
      update context_profiles set time_zone = null, notification_preferences = '\(CampaignScene.daily)'
      """)
    #expect(try await scene.database.sql(found) == "0")
    try await scene.database.sql(
      """
      insert into tacet.targets (channel, address, user_id, time_zone, keys)
      values ('\(channel)', 'x', '\(user)', 'Asia/Tokyo', '{"locale": "de-AT"}')
      """)
    #expect(try await scene.database.sql(found) == "\(audiences.count)")
    #expect(
      try await scene.database.sql("select tacet.check_in_material('\(user)', now()) ->> 'locale'") == "de-AT")
    let day = "(now() at time zone 'Asia/Tokyo')::date"
    let refusal = "select tacet.campaign_refusal('coach', '\(user)', now(), \(day), null) is null"
    #expect(try await scene.database.sql(refusal) == "t")
    try await scene.database.sql("update tacet.targets set dropped_at = now()")
    #expect(try await scene.database.sql(found) == "0")
  }
}
