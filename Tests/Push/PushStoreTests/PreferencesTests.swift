import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Preferences in the store")
struct PreferencesTests {
  private func put(_ preferences: UserPreferences, of user: HostID, in chat: Chat) async throws {
    #expect(try await withStore(chat.database) { try await $0.put(preferences, of: user, on: $1) })
  }

  private func situation(_ chat: Chat) async throws -> RecipientSituation {
    try await chat.send()
    return try #require(try await claim(chat.database).first?.recipients.first?.situation)
  }

  /// Quiet hours that began an hour ago and end in another, in UTC.
  private func around(_ chat: Chat, zone: String? = "UTC", _ policy: QuietHoursPolicy = .hold) async throws
    -> UserPreferences
  {
    let now = "extract(hour from now() at time zone 'UTC') * 60 + extract(minute from now() at time zone 'UTC')"
    let minutes = try #require(Int(try await chat.database.sql("select (\(now))::int")))
    return UserPreferences(
      quietHours: .init(start: (minutes + 1380) % 1440, end: (minutes + 60) % 1440, timeZone: zone, policy: policy))
  }

  @Test("a claim says nothing of preferences where there are none")
  func none() async throws {
    let situation = try await situation(try await Chat())
    #expect(!situation.isOptedOut && !situation.isMuted && !situation.wantsMentionsOnly && !situation.isMentioned)
    #expect(situation.quietHoursRemaining == nil)
    #expect(situation.quietHoursPolicy == .hold)
  }

  @Test(
    "a claim says which kinds are not wanted",
    arguments: [(["message"], true), (["other", "message"], true), (["messages", "Message"], false), ([], false)])
  func kinds(disabled: [String], isOptedOut: Bool) async throws {
    let chat = try await Chat()
    try await put(UserPreferences(disabledKinds: disabled), of: chat.reader, in: chat)
    #expect(try await situation(chat).isOptedOut == isOptedOut)
  }

  @Test(
    "a mute holds until its end, which does not belong to it, and for its conversation alone",
    arguments: [
      ("true, null", true), ("true, now() + interval '1 h'", true), ("true, now() - interval '1 microsecond'", false),
      ("false, null", false), ("false, now() + interval '1 h'", false),
    ])
  func mutes(columns: String, isMuted: Bool) async throws {
    let chat = try await Chat()
    let insertion =
      "insert into tacet.conversation_preferences (user_id, mentions_only, conversation_id, is_muted, muted_until)"
    try await chat.database.sql("\(insertion) values ('\(chat.reader)', false, '\(chat.id)', \(columns))")
    #expect(try await situation(chat).isMuted == isMuted)
    try await chat.database.sql("update tacet.conversation_preferences set conversation_id = gen_random_uuid()")
    #expect(try await !situation(chat).isMuted)
  }

  @Test("a mute ends with the microsecond that it names")
  func muteEdge() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      "insert into tacet.conversation_preferences values ('2026-01-01Z', '\(HostID.zero)', '\(HostID.zero)', true, false)"
    )
    let muted = try await database.sql(
      """
      select string_agg((select f.is_muted from tacet.recipient_preferences('\(HostID.zero)', 'message', '\(HostID.zero)', m) f)
        ::text, ' ' order by m)
      from (values (timestamptz '2026-01-01Z' - interval '1 microsecond'), ('2026-01-01Z')) v (m)
      """)
    #expect(muted == "true false")
  }

  @Test(
    "the name behind an @ is a mention, in either case, with no letter or digit behind it",
    arguments: [
      ("@Ann", true), ("hi @ann!", true), ("(@ANN)", true), ("@Ann\n", true), ("@Anna and @Ann", true),
      ("@Ann's", true),
      ("Ann", false), ("@Anna", false), ("@Ann1", false), ("@ Ann", false), ("", false), ("@", false), ("@@Ann", true),
    ])
  func mentions(text: String, isMentioned: Bool) async throws {
    let chat = try await Chat()
    try await chat.database.sql("update profiles set name = ' Ann ' where id = '\(chat.reader)'")
    let wish = UserPreferences.Conversation(id: chat.id, isMuted: false, mutedUntil: nil, mentionsOnly: true)
    try await put(UserPreferences(conversations: [wish]), of: chat.reader, in: chat)
    try await chat.send("E'\(text.replacingOccurrences(of: "'", with: "''"))'")
    let situation = try #require(try await claim(chat.database).first?.recipients.first?.situation)
    #expect(situation.wantsMentionsOnly)
    #expect(situation.isMentioned == isMentioned)
  }

  @Test(
    "nobody without a name is mentioned, and who wants everything is not looked for", arguments: ["null", "''", "' '"])
  func nameless(name: String) async throws {
    let chat = try await Chat()
    try await chat.database.sql("update profiles set name = \(name) where id = '\(chat.reader)'")
    let wish = UserPreferences.Conversation(id: chat.id, isMuted: false, mutedUntil: nil, mentionsOnly: true)
    try await put(UserPreferences(conversations: [wish]), of: chat.reader, in: chat)
    try await chat.send("'@ @'")
    #expect(try await claim(chat.database).first?.recipients.first?.situation.isMentioned == false)
  }

  @Test("a claim says how long quiet hours last, and what is wanted of them", arguments: QuietHoursPolicy.allCases)
  func quietHours(policy: QuietHoursPolicy) async throws {
    let chat = try await Chat()
    try await put(try await around(chat, policy), of: chat.reader, in: chat)
    let situation = try await situation(chat)
    let remaining = try #require(situation.quietHoursRemaining)
    #expect(remaining > .seconds(3480) && remaining <= .seconds(3600))
    #expect(situation.quietHoursPolicy == policy)
  }

  @Test("without a zone of their own, quiet hours go by the newest device whose zone is known, else by UTC")
  func zones() async throws {
    let chat = try await Chat()
    try await put(try await around(chat, zone: nil), of: chat.reader, in: chat)
    #expect(try await situation(chat).quietHoursRemaining != nil)
    try await chat.register(
      "a1", ["time_zone": "'Etc/GMT-3'", "registered_at": "now() - interval '3 h'"])
    #expect(try await situation(chat).quietHoursRemaining == nil)
    try await chat.register("a2", ["time_zone": "'UTC'", "registered_at": "now() - interval '2 h'"])
    try await chat.register("a3", ["registered_at": "now() - interval '1 h'"])
    #expect(try await situation(chat).quietHoursRemaining != nil)
    try await chat.register("a4", ["time_zone": "'Etc/GMT-3'", "invalidated_at": "now()"])
    #expect(try await situation(chat).quietHoursRemaining != nil)
    try await chat.register("a5", ["time_zone": "'Etc/GMT-3'"])
    #expect(try await situation(chat).quietHoursRemaining == nil)
    try await chat.register("a6", ["time_zone": "'Gone/Zone'"])
    #expect(try await situation(chat).quietHoursRemaining == nil)
  }

  @Test("of two documents put at once one holds as a whole", .uuidsOnly)
  func atOnce() async throws {
    let chat = try await Chat()
    func call(_ conversation: Int) -> String {
      let id = "00000000-0000-0000-0000-00000000000\(conversation)"
      return """
        tacet.put_preferences('\(chat.reader)', null, null, null, null, '{}', '{\(id)}', '{t}', array[null]::timestamptz[], '{f}')
        """
    }
    let calls = [call(1), call(2)]
    try await withTwoSessions(chat.database) { first, second, reactor in
      try await first.run("begin; select \(calls[0])", on: reactor)
      let later = Begun.begin(on: reactor) { try await second.run("select \(calls[1])", on: reactor) }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      try await later.value(on: reactor)
    }
    let kept = "select conversation_id from tacet.conversation_preferences"
    #expect(try await chat.database.sql(kept) == "00000000-0000-0000-0000-000000000002")
  }

  @Test("new preferences make the user's holds due, and nobody else's")
  func released() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.decide { .held($0, for: .seconds(3600)) }
    try await put(UserPreferences(), of: chat.readers[1], in: chat)
    let due = "select user_id from tacet.deliveries where due_at <= clock_timestamp()"
    #expect(try await chat.database.sql(due) == chat.readers[1].text)
  }

  @Test("preferences that were put while a hold was being recorded are found by its review")
  func reviewed() async throws {
    let scene = try await HeldScene.waiting()
    let events = try await claim(scene.chat.database)
    try await put(UserPreferences(), of: scene.chat.reader, in: scene.chat)
    try await scene.chat.record(events) { .held($0) }
    #expect(try await review(scene) == 1)
    try await scene.chat.database.sql(
      "update tacet.preferences set changed_at = now() - interval '1 min'; update tacet.deliveries set due_at = now() + interval '1 h'"
    )
    #expect(try await review(scene) == 0)
  }

  @Test(
    "that somebody left ends a hold for presence; one for quiet hours is left alone",
    arguments: ["user_viewing", "quiet_hours"])
  func leftInQuietHours(reason: String) async throws {
    let scene = try await HeldScene.held()
    try await scene.chat.database.sql(
      """
      update public.conversation_participants set tacet_left_at = clock_timestamp() where user_id = '\(scene.chat.reader)';
      update tacet.deliveries set due_at = now() + interval '1 h';
      update tacet.push_log set reason = '\(reason)'
      """)
    #expect(try await review(scene) == (reason == "user_viewing" ? 1 : 0))
  }

  @Test("a deleted user's preferences go with the user")
  func forgotten() async throws {
    let chat = try await Chat(readers: 2)
    let wish = UserPreferences.Conversation(id: chat.id, isMuted: true, mutedUntil: nil, mentionsOnly: false)
    for user in chat.readers { try await put(UserPreferences(conversations: [wish]), of: user, in: chat) }
    try await chat.database.sql("delete from profiles where id = '\(chat.readers[0])'")
    try await erase(chat.database)
    let left =
      "select p.user_id, c.user_id from tacet.preferences p full join tacet.conversation_preferences c using (user_id)"
    let id = chat.readers[1].text
    #expect(try await chat.database.sql(left) == "\(id)|\(id)")
  }

  private func review(_ scene: HeldScene) async throws -> Int {
    try await withStore(scene.chat.database) { try await $0.review([scene.hold], on: $1).released }
  }
}

extension HostID {
  /// One that all of these tests share.
  fileprivate static let zero = new()
}
