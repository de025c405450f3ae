import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestPostgres
import Testing

@testable import PushStore

@Suite("Registered devices")
struct DeviceRegistrationTests {
  private static func device(_ token: String, _ change: (inout RegisteredDevice) -> Void = { _ in })
    -> RegisteredDevice
  {
    var device = RegisteredDevice(token: token)
    change(&device)
    return device
  }

  private func register(_ device: RegisteredDevice, of user: HostID, devicesMax: Int = 10, in chat: Chat) async throws
    -> RegistrationOutcome
  {
    try await withStore(chat.database) {
      try await $0.register(device, of: user, devicesMax: devicesMax, on: $1)
    }
  }

  private func remove(_ token: String, of user: HostID, in chat: Chat) async throws -> Bool {
    try await withStore(chat.database) { try await $0.removeDevice(token, of: user, on: $1) }
  }

  /// The rows of all tokens, in their order, with the owner's place among the readers.
  private func tokens(_ chat: Chat) async throws -> String {
    let places = chat.readers.map { "'\($0)'" }.joined(separator: ", ")
    return try await chat.database.sql(
      """
      select array_position(array[\(places)]::uuid[], user_id), device_token, coalesce(invalidation_reason, ''),
        invalidated_at is null
      from push_tokens order by device_token, user_id
      """)
  }

  @Test("a registration says everything that is known of a device")
  func stored() async throws {
    let chat = try await Chat()
    let device = Self.device("aa") {
      $0.environment = "sandbox"
      $0.app = "com.example.app"
      $0.platform = "ipados"
      $0.locale = "de-CH"
      $0.timeZone = "Europe/Zurich"
    }
    #expect(try await register(device, of: chat.reader, in: chat) == .registered)
    let row = "select user_id, environment, app, platform, locale, time_zone, registered_at <= now() from push_tokens"
    let expected = "\(chat.reader.text)|sandbox|com.example.app|ipados|de-CH|Europe/Zurich|t"
    #expect(try await chat.database.sql(row) == expected)
  }

  @Test("a refresh keeps what it does not name, and a token that was dropped lives again")
  func refreshed() async throws {
    let chat = try await Chat()
    try await chat.register(
      "aa",
      [
        "environment": "'sandbox'", "locale": "'de'", "registered_at": "now() - interval '1 d'",
        "invalidated_at": "now()", "invalidation_reason": "'Unregistered'",
      ])
    let refresh = Self.device("aa") { $0.locale = "fr" }
    #expect(try await register(refresh, of: chat.reader, in: chat) == .registered)
    let row = """
      select environment, locale, platform, invalidated_at is null, invalidation_reason is null,
        registered_at > now() - interval '1 h' from push_tokens
      """
    #expect(try await chat.database.sql(row) == "sandbox|fr|ios|t|t|t")
  }

  @Test("a token moves to whoever registers it, whatever case it was stored in")
  func moved() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.register("AAFF", of: chat.readers[0])
    #expect(try await register(Self.device("aaff"), of: chat.readers[1], in: chat) == .registered)
    #expect(try await tokens(chat) == "2|aaff||t")
  }

  @Test("of several rows of one token one remains, where the host's table has no unique constraint")
  func unconstrained() async throws {
    let chat = try await Chat(readers: 3)
    try await chat.database.sql("alter table push_tokens drop constraint push_tokens_pkey")
    for (token, user) in [("aa", 0), ("AA", 1), ("aa", 2), ("Aa", 2)] {
      try await chat.register(token, of: chat.readers[user])
    }
    #expect(try await register(Self.device("aa"), of: chat.readers[1], in: chat) == .registered)
    #expect(try await tokens(chat) == "2|aa||t")
  }

  @Test(
    "two users who register one token at once leave one row, the later's",
    arguments: [true, false])
  func atOnce(isUnique: Bool) async throws {
    let chat = try await Chat(readers: 2)
    if !isUnique { try await chat.database.sql("alter table push_tokens drop constraint push_tokens_pkey") }
    try await withTwoSessions(chat.database) { first, second, reactor in
      try await first.run("begin; select \(Self.call("aa", of: chat.readers[0]))", on: reactor)
      let later = Begun.begin(on: reactor) {
        try await second.run("select \(Self.call("aa", of: chat.readers[1]))", on: reactor)
      }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      try await later.value(on: reactor)
    }
    #expect(try await tokens(chat) == "2|aa||t")
  }

  @Test("a registration that meets an insert of the host's own takes the token over")
  func besideHost() async throws {
    let chat = try await Chat(readers: 2)
    try await withTwoSessions(chat.database) { host, service, reactor in
      try await host.run(
        "begin; insert into public.push_tokens (user_id, device_token) values ('\(chat.readers[0])', 'aa')", on: reactor
      )
      let later = Begun.begin(on: reactor) {
        try await service.run("select \(Self.call("aa", of: chat.readers[1]))", on: reactor)
      }
      try await host.awaitBlocked(service, on: reactor)
      try await host.run("commit", on: reactor)
      try await later.value(on: reactor)
    }
    #expect(try await tokens(chat) == "2|aa||t")
  }

  @Test("the oldest devices above the bound are dropped, one at the bound is kept", arguments: [3, 2, 1])
  func pruned(devicesMax: Int) async throws {
    let chat = try await Chat(readers: 2)
    try await chat.register("e0", ["registered_at": "now() - interval '9 d'"], of: chat.readers[1])
    try await chat.register("a1", ["registered_at": "now() - interval '2 d'"])
    try await chat.register("a2", ["registered_at": "now() - interval '1 d'"])
    #expect(try await register(Self.device("a3"), of: chat.reader, devicesMax: devicesMax, in: chat) == .registered)
    let rows = (1...3).map { $0 > 3 - devicesMax ? "1|a\($0)||t" : "1|a\($0)|too_many|f" } + ["2|e0||t"]
    #expect(try await tokens(chat) == rows.joined(separator: "\n"))
  }

  @Test("of dropped devices the newest fifty stay, of this user alone", arguments: [49, 50, 51, 80])
  func forgotten(dropped: Int) async throws {
    let chat = try await Chat(readers: 2)
    try await chat.database.sql(
      """
      insert into push_tokens (user_id, device_token, registered_at, invalidated_at, invalidation_reason)
      select u.id, u.prefix || lpad(n::text, 4, '0'), now() - interval '1 day', now() - n * interval '1 min', 'logged_out'
      from (values ('\(chat.reader)'::uuid, 'aa'), ('\(chat.readers[1])', 'bb')) u (id, prefix),
        generate_series(1, \(dropped)) n
      """)
    #expect(try await register(Self.device("cc"), of: chat.reader, in: chat) == .registered)
    let kept =
      "select user_id, count(*), max(device_token) from push_tokens where invalidated_at is not null group by 1"
    let counts = [
      "\(chat.reader)|\(min(dropped, 50))|aa00\(min(dropped, 50))",
      "\(chat.readers[1])|\(dropped)|bb00\(dropped)",
    ]
    let rows = try await chat.database.sql(kept).split(separator: "\n").map(String.init)
    #expect(rows.sorted() == counts.map { $0.lowercased() }.sorted())
    #expect(try await chat.database.sql("select count(*) from push_tokens where invalidated_at is null") == "1")
  }

  @Test("devices registered at once by one user are counted together")
  func prunedAtOnce() async throws {
    let chat = try await Chat()
    try await withTwoSessions(chat.database) { first, second, reactor in
      try await first.run("begin; select \(Self.call("aa", of: chat.reader, devicesMax: 1))", on: reactor)
      let later = Begun.begin(on: reactor) {
        try await second.run("select \(Self.call("bb", of: chat.reader, devicesMax: 1))", on: reactor)
      }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run("commit", on: reactor)
      try await later.value(on: reactor)
    }
    #expect(try await tokens(chat) == "1|aa|too_many|f\n1|bb||t")
  }

  @Test("a device that is logged out says so; a reason that is there stays; another's is untouched")
  func removed() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.register("AA", of: chat.readers[0])
    #expect(try await remove("aa", of: chat.readers[1], in: chat) == false)
    #expect(try await tokens(chat) == "1|AA||t")
    #expect(try await remove("aa", of: chat.readers[0], in: chat))
    #expect(try await tokens(chat) == "1|AA|logged_out|f")
    try await chat.database.sql("update push_tokens set invalidation_reason = 'Unregistered'")
    #expect(try await remove("aa", of: chat.readers[0], in: chat))
    #expect(try await tokens(chat) == "1|AA|Unregistered|f")
    #expect(try await remove("bb", of: chat.readers[0], in: chat))
  }

  @Test(
    "a time zone is one that PostgreSQL knows and that IANA names",
    arguments: [
      ("Europe/Berlin", true), ("UTC", true), ("Etc/GMT+12", true), ("Etc/GMT-14", true), ("EST5EDT", true),
      ("America/Argentina/Buenos_Aires", true), ("America/Port-au-Prince", true), ("W-SU", true), ("GMT0", true),
      ("Etc/GMT+13", false), ("Etc/GMT-15", false), ("Europe/Nowhere", false), ("X/Y+3", false),
      ("ABC4", false), ("", false),
    ])
  func timeZones(name: String, isKnown: Bool) async throws {
    let chat = try await Chat()
    let outcome = try await register(Self.device("aa") { $0.timeZone = name }, of: chat.reader, in: chat)
    #expect(outcome == (isKnown ? .registered : .registeredWithoutZone))
    #expect(try await chat.database.sql("select time_zone from push_tokens") == (isKnown ? name : ""))
  }

  @Test("a user whom the host does not know has no devices")
  func unknownUser() async throws {
    let chat = try await Chat()
    #expect(try await register(Self.device("aa"), of: HostID.new(), in: chat) == .unknownUser)
  }

  private static func call(_ token: String, of user: HostID, devicesMax: Int = 10) -> String {
    "tacet.register_device('\(user)', '\(token)', null, null, null, null, null, \(devicesMax))"
  }
}

@Suite("Targets that Tacet keeps itself")
struct TargetTests {
  @Test(
    "a token or a subscription that has ended is left out, however old the others are",
    arguments: [
      ("fcm", "expires_at", "now() + interval '1 minute'", true), ("fcm", "expires_at", "now()", false),
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
    #expect(try await scene.database.sql("select \(CampaignScene.refusal(of: "'{\(user)}'"))") == "")
    try await scene.database.sql("update tacet.targets set dropped_at = now()")
    #expect(try await scene.database.sql(found) == "0")
  }
}

@Suite("What registrations say of content and language")
struct RegisteredWishesTests {
  private static let (key, newKey) = (String(repeating: "A", count: 43), String(repeating: "B", count: 42) + "A")

  private func register(
    _ chat: Chat, _ token: String = "aa01", of user: HostID? = nil, content: String? = nil, key: String? = nil,
    locale: String? = nil, devicesMax: Int = 10
  ) async throws {
    var device = RegisteredDevice(token: token)
    (device.content, device.sealingKey, device.locale) = (content, key, locale)
    let outcome = try await withStore(chat.database) { [device] in
      try await $0.register(device, of: user ?? chat.reader, devicesMax: devicesMax, on: $1)
    }
    #expect(outcome == .registered)
  }

  private func registerTarget(
    _ chat: Chat, _ channel: String, of user: HostID? = nil, keys: String? = nil, content: String? = nil,
    key: String? = nil, locale: String? = nil
  ) async throws {
    var target = RegisteredTarget(PushTarget(DeliveryChannel(rawValue: channel), address: "x", keys: keys))
    (target.content, target.sealingKey, target.locale) = (content, key, locale)
    target.fetchDigest = "digest"
    _ = try await withStore(chat.database) { [target] in
      try await $0.register(target, of: user ?? chat.reader, targetsMax: 10, on: $1)
    }
  }

  /// The members that the next claim brings of a reader's device or target, sorted by their names.
  private func members(_ chat: Chat, of user: HostID? = nil, _ channel: String = "apns") async throws -> String {
    try await chat.database.sql(
      """
      select string_agg(m.key || '=' || m.value, ' ' order by m.key)
      from tacet.push_targets('\(user ?? chat.reader)') t, jsonb_each_text(t.keys::jsonb) m
      where t.channel = '\(channel)'
      """)
  }

  @Test("they come with every claim, and what a later one does not say stays")
  func kept() async throws {
    let chat = try await Chat()
    try await register(chat)
    #expect(try await members(chat) == "")
    #expect(try await chat.database.sql("select count(*) from tacet.target_wishes") == "0")
    try await register(chat, content: "sealed", key: Self.key, locale: "de-AT")
    try await chat.send()
    let target = try #require(try await claim(chat.database).first?.recipients.first?.targets.first)
    #expect(target.keys?.contains("de-AT") == true)
    #expect(try await members(chat) == "content=sealed locale=de-AT sealing_key=\(Self.key)")
    try await register(chat)
    #expect(try await members(chat) == "content=sealed locale=de-AT sealing_key=\(Self.key)")
    try await register(chat, key: Self.newKey)
    #expect(try await members(chat) == "content=sealed locale=de-AT sealing_key=\(Self.newKey)")
  }

  @Test("a host's spelling of the token does not matter")
  func spelling() async throws {
    let chat = try await Chat()
    try await register(chat, "abcd", content: "none")
    try await chat.database.sql("update push_tokens set device_token = 'ABCD'")
    #expect(try await members(chat) == "content=none")
  }

  @Test("they go with the user's session, with the device, and with a change of its user")
  func gone() async throws {
    let chat = try await Chat(readers: 2)
    func rows() async throws -> String {
      try await chat.database.sql("select string_agg(address, ' ' order by address) from tacet.target_wishes")
    }
    try await register(chat, content: "none")
    try await register(chat, of: chat.readers[1])
    #expect(try await members(chat, of: chat.readers[1]) == "")
    #expect(try await rows() == "")
    try await register(chat, content: "none")
    _ = try await withStore(chat.database) { try await $0.removeDevice("aa01", of: chat.readers[1], on: $1) }
    #expect(try await rows() == "aa01")
    _ = try await withStore(chat.database) { try await $0.removeDevice("aa01", of: chat.reader, on: $1) }
    #expect(try await rows() == "")
    for token in ["aa01", "aa02", "aa03"] { try await register(chat, token, content: "none", devicesMax: 2) }
    #expect(try await rows() == "aa02 aa03")
    try await chat.database.sql("select tacet.drop_dead_device('aa03', 'Unregistered', now())")
    #expect(try await rows() == "aa02")
    try await chat.database.sql("select tacet.drop_dead_device('aa02', 'Unregistered', now() - interval '1 hour')")
    #expect(try await rows() == "aa02")
  }

  @Test("Android apps and browsers have them beside their keys", arguments: ["fcm", "web_push"])
  func targets(_ channel: String) async throws {
    let chat = try await Chat(readers: 2)
    let keys = channel == "fcm" ? nil : #"{"p256dh":"p","auth":"a"}"#
    let own = keys == nil ? "" : " p256dh=p"
    let before = keys == nil ? "" : "auth=a "
    try await registerTarget(chat, channel, keys: keys, content: "none", key: Self.key, locale: "de")
    #expect(try await members(chat, channel) == "\(before)content=none locale=de\(own) sealing_key=\(Self.key)")
    try await registerTarget(chat, channel, keys: keys, locale: "fr")
    #expect(try await members(chat, channel) == "\(before)content=none locale=fr\(own) sealing_key=\(Self.key)")
    try await registerTarget(chat, channel, of: chat.readers[1], keys: keys)
    #expect(try await members(chat, of: chat.readers[1], channel) == (before + own).replacing("  ", with: " ").trimmed)
  }

  @Test("a browser's next subscription has what was said of the one before")
  func renewed() async throws {
    let chat = try await Chat()
    try await registerTarget(chat, "web_push", keys: #"{"p256dh":"p","auth":"a"}"#, content: "sender", locale: "de")
    var next = RegisteredTarget(
      PushTarget(DeliveryChannel(rawValue: "web_push"), address: "y", keys: #"{"p256dh":"q","auth":"b"}"#))
    next.fetchDigest = "next"
    let isRenewed = try await withStore(chat.database) { [next] in
      try await $0.renew(next, replacing: "digest", targetsMax: 10, on: $1)
    }
    #expect(isRenewed)
    #expect(try await members(chat, "web_push") == "auth=b content=sender locale=de p256dh=q")
  }

  @Test("the user's choice concerns all devices, also those that the host has registered, until it is taken back")
  func preference() async throws {
    let chat = try await Chat()
    try await chat.register("aa01")
    try await registerTarget(chat, "fcm", key: Self.key)
    func put(_ content: ContentChoice?) async throws {
      let preferences = UserPreferences(content: content)
      #expect(try await withStore(chat.database) { try await $0.put(preferences, of: chat.reader, on: $1) })
      #expect(try await withStore(chat.database) { try await $0.preferences(of: chat.reader, on: $1) } == preferences)
    }
    try await put(.sealed)
    #expect(try await members(chat) == "user_content=sealed")
    #expect(try await members(chat, "fcm") == "sealing_key=\(Self.key) user_content=sealed")
    try await put(nil)
    #expect(try await members(chat) == "")
    #expect(try await members(chat, "fcm") == "sealing_key=\(Self.key)")
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
