import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Events for the host, as they happen")
struct HostEventTests {
  @Test("without an announcement there is no trigger on the ledger, and none after it was taken back")
  func off() async throws {
    let chat = try await Chat()
    let triggers =
      "select count(*) from pg_trigger where tgrelid = 'tacet.push_log'::regclass and tgname like 'announce%'"
    #expect(try await chat.database.sql(triggers) == "0")
    try await chat.database.sql("select tacet.announce('{device.dropped}')")
    #expect(try await chat.database.sql(triggers) == "0")
    try await chat.database.sql("select tacet.announce('{push.sent}')")
    try await chat.database.sql("select tacet.announce('{push.sent,push.unread}')")
    #expect(try await chat.database.sql(triggers) == "2")
    try await chat.database.sql("select tacet.announce_nothing()")
    #expect(try await chat.database.sql(triggers + "; select count(*) from tacet.announcements") == "0\n0")
    await #expect(throws: (any Error).self) { try await chat.database.sql("select tacet.announce('{push.read}')") }
  }

  @Test(
    "each outcome is one event, with its reason; a hold is none",
    arguments: [
      (OutcomeDecision.sent, "push.sent|waiting|why"), (.skipped, "push.skipped|waiting|why"),
      (.failed, "push.failed|waiting|why"), (.held, ""),
    ])
  func outcomes(_ decision: OutcomeDecision, _ expected: String) async throws {
    let scene = try await HostEventScene(escalates: nil)
    try await scene.decide(decision, reason: "why")
    #expect(try await scene.events() == expected)
  }

  @Test("an outcome that is recorded again is no second event, and one that follows a hold is one")
  func again() async throws {
    let scene = try await HostEventScene(escalates: nil)
    try await scene.chat.send()
    let events = try await claim(scene.database)
    for decision in [OutcomeDecision.held, .sent, .sent] {
      try await scene.chat.record(events) {
        RecipientOutcome(userID: $0, decision: decision, reason: decision.rawValue)
      }
    }
    #expect(try await scene.events() == "push.sent|waiting|sent")
    try await scene.database.sql("update tacet.push_log set opened = true")
    #expect(try await scene.events() == "push.sent|waiting|sent")
  }

  @Test("what is not announced is no event, nor is another kind")
  func chosen() async throws {
    let scene = try await HostEventScene("'{push.skipped,push.unread}', '{message,other}'")
    try await scene.decide(.sent)
    try await scene.decide(.skipped)
    #expect(try await scene.events("type") == "push.skipped")
    #expect(try await scene.database.sql("select count(*) from tacet.unread_checks") == "1")
    try await scene.database.sql("select tacet.announce('{push.skipped,push.unread}', '{other}')")
    try await scene.decide(.skipped)
    try await scene.decide(.sent)
    #expect(try await scene.events("type") == "push.skipped")
    #expect(try await scene.database.sql("select count(*) from tacet.unread_checks") == "1")
    try await scene.database.sql("select tacet.announce('{push.skipped}')")
    #expect(try await scene.database.sql("select count(*) from tacet.unread_checks") == "0")
  }

  @Test("a device that its service calls dead is an event of its user, once; one that came back is none", .uuidsOnly)
  func dropped() async throws {
    let scene = try await HostEventScene("'{device.dropped}'")
    let (reader, database) = (scene.chat.reader, scene.database)
    try await scene.chat.register("aabbccddeeff")
    try await scene.chat.register("0011", ["registered_at": "now() + interval '1 h'"])
    try await database.sql(
      "insert into tacet.targets (channel, address, user_id) values ('fcm', 'a token', '\(reader)')")
    for address in ["aabbccddeeff", "0011", "a token", "aabbccddeeff", "unknown"] {
      try await database.sql("select tacet.drop_dead_device('\(address)', 'gone', clock_timestamp())")
    }
    let mark = try await database.sql("select left(tacet.target_mark('fcm', 'a token'), 8)")
    #expect(
      try await scene.events("type, user_id, channel, device, reason") == """
        device.dropped|\(reader)|apns|aabbccdd|gone
        device.dropped|\(reader)|fcm|\(mark)|gone
        """)
  }

  @Test("a deleted user's events, checks and wishes go with the user")
  func forgotten() async throws {
    let scene = try await HostEventScene(readers: 2, sends: .sent)
    try await scene.database.sql(
      """
      insert into tacet.unread_preferences (user_id, kind, after)
      select u, 'message', '1 h' from unnest(array['\(scene.chat.readers[0])', '\(scene.chat.readers[1])']::uuid[]) u;
      delete from profiles where id = '\(scene.chat.readers[0])'
      """)
    try await erase(scene.database)
    for table in ["host_events", "unread_checks", "unread_preferences"] {
      let left = try await scene.database.sql("select user_id from tacet.\(table)")
      #expect(left == scene.chat.readers[1].text, "\(table)")
    }
  }

  @Test("what a host takes goes, except push.unread; what is dead stays until it is pruned")
  func taken() async throws {
    let scene = try await HostEventScene(sends: .sent)
    #expect(try await scene.look() == 1)
    for _ in 0..<2 { try await scene.settle(try #require(try await scene.claim().first)) }
    #expect(try await scene.events("type, state, attempts, status") == "push.unread|taken|1|200")
  }
}
