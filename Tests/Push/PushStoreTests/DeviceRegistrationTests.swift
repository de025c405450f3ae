import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
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
