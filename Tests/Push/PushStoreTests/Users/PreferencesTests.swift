import Foundation
import PushRules
import TestIDs
import TestRandomness
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

/// Quiet hours of one day in one zone, and the instants between which they must last.
struct QuietCase: Sendable, CustomTestStringConvertible {
  let zone: String
  let change: String
  let hours: String
  /// In UTC.
  let begins: String
  let ends: String

  init(_ zone: String, _ change: String, _ hours: String, _ begins: String, _ ends: String) {
    self.zone = zone
    self.change = change
    self.hours = hours
    self.begins = begins + "Z"
    self.ends = ends + "Z"
  }

  var testDescription: String { "\(zone), \(change): \(hours)" }

  /// Quiet hours as the first arguments of the function.
  var arguments: String {
    "\(hours.split(separator: "-").map { "'\($0)'" }.joined(separator: ", ")), '\(zone)'"
  }

  static let ordinary = [
    QuietCase("Europe/Berlin", "none", "13:00-14:00", "2026-06-01 11:00", "2026-06-01 12:00"),
    QuietCase("Europe/Berlin", "none", "22:00-07:00", "2026-06-01 20:00", "2026-06-02 05:00"),
    QuietCase("Asia/Kolkata", "none", "22:00-00:00", "2026-06-01 16:30", "2026-06-01 18:30"),
    QuietCase("UTC", "none", "00:00-06:00", "2026-06-01 00:00", "2026-06-01 06:00"),
    QuietCase("UTC", "none", "06:01-06:00", "2026-06-01 06:01", "2026-06-02 06:00"),
  ]

  /// Clocks go from 02:00 to 03:00, on Lord Howe Island to 02:30, in Santiago from 00:00 to 01:00.
  static let forward = [
    QuietCase("Europe/Berlin", "forward", "22:00-07:00", "2026-03-28 21:00", "2026-03-29 05:00"),
    QuietCase("Europe/Berlin", "forward", "02:30-05:00", "2026-03-29 01:30", "2026-03-29 03:00"),
    QuietCase("Europe/Berlin", "forward", "23:00-02:30", "2026-03-28 22:00", "2026-03-29 01:30"),
    QuietCase("Europe/Berlin", "forward", "23:00-02:00", "2026-03-28 22:00", "2026-03-29 01:00"),
    QuietCase("Europe/Berlin", "forward", "03:00-05:00", "2026-03-29 01:00", "2026-03-29 03:00"),
    QuietCase("America/New_York", "forward", "22:00-07:00", "2026-03-08 03:00", "2026-03-08 11:00"),
    QuietCase("America/New_York", "forward", "02:30-05:00", "2026-03-08 07:30", "2026-03-08 09:00"),
    QuietCase("America/New_York", "forward", "23:00-02:30", "2026-03-08 04:00", "2026-03-08 07:30"),
    QuietCase("Australia/Lord_Howe", "forward", "22:00-07:00", "2026-10-03 11:30", "2026-10-03 20:00"),
    QuietCase("Australia/Lord_Howe", "forward", "02:15-05:00", "2026-10-03 15:45", "2026-10-03 18:00"),
    QuietCase("Australia/Lord_Howe", "forward", "23:00-02:15", "2026-10-03 12:30", "2026-10-03 15:45"),
    QuietCase("America/Santiago", "forward", "22:00-07:00", "2026-09-06 02:00", "2026-09-06 10:00"),
    QuietCase("America/Santiago", "forward", "00:30-05:00", "2026-09-06 04:30", "2026-09-06 08:00"),
    QuietCase("America/Santiago", "forward", "22:00-00:30", "2026-09-06 02:00", "2026-09-06 04:30"),
    QuietCase("America/Santiago", "forward", "22:00-00:00", "2026-09-06 02:00", "2026-09-06 04:00"),
  ]

  /// Clocks go from 03:00 to 02:00, in New York from 02:00 to 01:00, on Lord Howe Island to 01:30, in Santiago from 24:00 to
  /// 23:00.
  static let back = [
    QuietCase("Europe/Berlin", "back", "22:00-07:00", "2026-10-24 20:00", "2026-10-25 06:00"),
    QuietCase("Europe/Berlin", "back", "02:30-05:00", "2026-10-25 00:30", "2026-10-25 04:00"),
    QuietCase("Europe/Berlin", "back", "23:00-02:30", "2026-10-24 21:00", "2026-10-25 00:30"),
    QuietCase("Europe/Berlin", "back", "02:00-03:00", "2026-10-25 00:00", "2026-10-25 02:00"),
    QuietCase("America/New_York", "back", "22:00-07:00", "2026-11-01 02:00", "2026-11-01 12:00"),
    QuietCase("America/New_York", "back", "01:30-05:00", "2026-11-01 05:30", "2026-11-01 10:00"),
    QuietCase("America/New_York", "back", "23:00-01:30", "2026-11-01 03:00", "2026-11-01 05:30"),
    QuietCase("Australia/Lord_Howe", "back", "22:00-07:00", "2026-04-04 11:00", "2026-04-04 20:30"),
    QuietCase("Australia/Lord_Howe", "back", "01:45-05:00", "2026-04-04 14:45", "2026-04-04 18:30"),
    QuietCase("Australia/Lord_Howe", "back", "23:00-01:45", "2026-04-04 12:00", "2026-04-04 14:45"),
    QuietCase("America/Santiago", "back", "22:00-07:00", "2026-04-05 01:00", "2026-04-05 11:00"),
    QuietCase("America/Santiago", "back", "23:30-05:00", "2026-04-05 02:30", "2026-04-05 09:00"),
    QuietCase("America/Santiago", "back", "20:00-23:30", "2026-04-04 23:00", "2026-04-05 02:30"),
  ]

  /// Samoa had no 30 December 2011: its clocks went from -10:00 to +14:00 at midnight.
  static let dateLine = [
    QuietCase("Pacific/Apia", "date line", "22:00-07:00", "2011-12-30 08:00", "2011-12-30 17:00")
  ]
}

@Suite("Quiet hours")
struct QuietHoursTests {
  @Test(
    "quiet hours begin with their first microsecond and end before their last, whatever the clocks do",
    arguments: QuietCase.ordinary + QuietCase.forward + QuietCase.back + QuietCase.dateLine)
  func edges(_ quiet: QuietCase) async throws {
    let database = try await Self.database.value
    let lengths = try await database.sql(
      """
      select string_agg(
        coalesce(extract(epoch from tacet.quiet_hours_remaining(\(quiet.arguments), m.moment))::text, 'none'), ' '
        order by m.moment)
      from (values
        (timestamptz '\(quiet.begins)' - interval '1 microsecond'), (timestamptz '\(quiet.begins)'),
        (timestamptz '\(quiet.ends)' - interval '1 microsecond'), (timestamptz '\(quiet.ends)')
      ) as m (moment)
      """)
    let length = try await database.sql(
      "select extract(epoch from timestamptz '\(quiet.ends)' - timestamptz '\(quiet.begins)')")
    print(
      "\(quiet.zone) | \(quiet.change) | \(quiet.hours) | \(quiet.begins) | \(quiet.ends) | \(length) s | "
        + "1 us before, at the beginning, 1 us before the end, at the end: \(lengths)")
    #expect(lengths == "none \(length) 0.000001 none")
  }

  @Test("quiet hours that a change of clocks skips as a whole are none that day")
  func skipped() async throws {
    let remaining = """
      select count(tacet.quiet_hours_remaining('02:00', '03:00', 'Europe/Berlin', m))
      from generate_series(timestamptz '2026-03-28 12:00Z', '2026-03-29 12:00Z', '1 minute') m
      """
    #expect(try await Self.database.value.sql(remaining) == "0")
  }

  @Test("in a zone that is none there are no quiet hours")
  func unknownZone() async throws {
    let remaining = "select tacet.quiet_hours_remaining('00:00', '23:59', 'Europe/Nowhere', now()) is null"
    #expect(try await Self.database.value.sql(remaining) == "t")
  }

  /// Clocks change by an hour at the most in these zones, and two hours of each day are not quiet: then no two quiet hours
  /// touch.
  @Test("whoever waits for the end of quiet hours is outside of them then, and waits for less than 25 hours")
  func ends() async throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    let rows = (0..<900).map { _ in
      let zone = Self.zones.randomElement(using: &generator) ?? "UTC"
      let start = Int.random(in: 0..<1440, using: &generator)
      let end = (start + Int.random(in: 1...1320, using: &generator)) % 1440
      let nearChange = Self.changes.randomElement(using: &generator) ?? 0
      let moment =
        Bool.random(using: &generator)
        ? nearChange + Int.random(in: -100_000_000_000...100_000_000_000, using: &generator)
        : Int.random(in: 0...2_000_000_000_000_000, using: &generator)
      return
        "('\(zone)', time '00:00' + \(start) * interval '1 min', time '00:00' + \(end) * interval '1 min', \(moment))"
    }
    let result = try await Self.database.value.sql(
      """
      select
        count(r.remaining) > 200,
        count(*) filter (where r.remaining <= interval '0' or r.remaining >= interval '25 h'),
        count(*) filter (
          where tacet.quiet_hours_remaining(r.quiet_start, r.quiet_end, r.zone, r.moment + r.remaining) is not null)
      from (
        select q.*, tacet.quiet_hours_remaining(q.quiet_start, q.quiet_end, q.zone, q.moment) as remaining
        from (
          select v.zone, v.quiet_start, v.quiet_end, timestamptz 'epoch' + v.us * interval '1 microsecond' as moment
          from (values \(rows.joined(separator: ","))) as v (zone, quiet_start, quiet_end, us)
        ) q
      ) r
      """)
    #expect(result == "t|0|0", "seed \(seed)")
  }

  private static let database = Task { try await TestDatabase.migrated() }

  private static let zones = [
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Beirut", "Asia/Kathmandu",
    "Africa/Casablanca", "America/St_Johns", "Pacific/Chatham", "Asia/Tehran", "America/Sao_Paulo", "UTC",
  ]

  /// Microseconds since 1970 of changes in 2026: Berlin, New York, Lord Howe Island and Santiago, forward and back.
  private static let changes = [
    1_774_746_000, 1_792_890_000, 1_772_953_200, 1_793_512_800, 1_791_041_400, 1_775_314_800, 1_788_667_200,
    1_775_358_000,
  ].map { $0 * 1_000_000 }
}
