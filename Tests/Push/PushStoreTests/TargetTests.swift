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
}
