import Foundation
import Postgres
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Imports and old messages")
struct ImportTests {
  private static let hour = Duration.seconds(3600)

  private static func limits() -> ClaimLimits {
    var limits = ClaimLimits(eventsMax: 100, deliveriesMax: 100, lease: .seconds(30))
    limits.life = hour
    return limits
  }

  private func discard(_ database: TestDatabase, rowsMax: Int = 10_000) async throws -> Int {
    try await withStore(database) { try await $0.discardTooOld(life: Self.hour, rowsMax: rowsMax, on: $1) }
  }

  @Test(
    "a message is available since its date from five minutes on; a date that says nothing makes it new", .uuidsOnly,
    arguments: [
      ("now() - interval '299 s'", false), ("now() - interval '301 s'", true), ("now() - interval '2 y'", true),
      ("now()", false), ("now() + interval '1 day'", false), ("null", false), ("'infinity'", false),
      ("'-infinity'", false), ("'0001-01-01 BC'", true),
    ])
  func dates(_ date: String, _ isDated: Bool) async throws {
    let chat = try await Chat()
    try await chat.database.sql("alter table messages alter created_at drop not null")
    try await chat.send("'Hello'", ["created_at": date])
    let found = try await chat.database.sql(
      """
      select i.available_at = m.created_at, i.enqueued_at > now() - interval '1 min', f.failures
      from tacet.inbox i join messages m on m.id = i.subject_id,
        (select count(*) as failures from tacet.trigger_failures) f
      """)
    #expect(found == (isDated ? "t|t|0" : date == "null" ? "|t|0" : "f|t|0"))
  }

  @Test("what was too old when it was inserted is not claimed, and leaves without a row in the ledger")
  func tooOld() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into messages (conversation_id, from_id, created_at)
      select '\(chat.id)', '\(chat.sender)', now() - interval '2 years' from generate_series(1, 250)
      """)
    let late = try await chat.send("'written offline'", ["created_at": "now() - interval '59 min'"])
    let new = try await chat.send()
    let claimed = try await withStore(chat.database) { try await $0.claim(Self.limits(), on: $1) }
    #expect(Set(claimed.map(\.subject)) == [.message(late), .message(new)])
    #expect(try await discard(chat.database, rowsMax: 200) == 200)
    #expect(try await discard(chat.database, rowsMax: 200) == 50)
    #expect(try await discard(chat.database) == 0)
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "2")
    #expect(try await chat.database.sql("select count(*) from tacet.push_log") == "0")
  }

  @Test("what has become too old in the inbox was an event: it is claimed, and its record says so")
  func outage() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql(
      "update tacet.inbox set available_at = now() - interval '2 h', enqueued_at = now() - interval '2 h'")
    #expect(try await discard(chat.database) == 0)
    let claimed = try await withStore(chat.database) { try await $0.claim(Self.limits(), on: $1) }
    #expect(claimed.map(\.subject) == [.message(message)])
  }

  @Test("the age of a message counts from the earlier of its date and its insert", arguments: [true, false])
  func age(_ isDated: Bool) async throws {
    let chat = try await Chat()
    try await chat.send("'Hello'", ["created_at": isDated ? "now() - interval '40 min'" : "now() + interval '1 h'"])
    let claimed = try await withStore(chat.database) { try await $0.claim(Self.limits(), on: $1) }
    let age = try #require(claimed.first?.recipients.first?.situation.messageAge)
    #expect(isDated ? age > .seconds(2399) && age < .seconds(2460) : age < .seconds(60))
  }

  @Test("under tacet.skip nothing is enqueued, and after the transaction everything is")
  func skip() async throws {
    let scene = try await WatchScene.tasks()
    let chat = try await Chat(in: scene.database)
    let task = "insert into public.tasks (list_id, by_id, note) values ('\(scene.list)', '\(scene.actor)', 'Tea')"
    try await withSessions(scene.database, 1) { sessions, reactor in
      let skipping = "begin; set local tacet.skip = 'on'; \(chat.insertion(of: HostID.new())); \(task); commit"
      try await sessions[0].run(skipping, on: reactor)
      #expect(try await sessions[0].value("select count(*) from tacet.inbox", on: reactor) == "0")
      try await sessions[0].run("\(chat.insertion(of: HostID.new())); \(task)", on: reactor)
      #expect(try await sessions[0].value("select count(*) from tacet.inbox", on: reactor) == "2")
    }
    #expect(try await scene.database.sql("select count(*) from tacet.trigger_failures") == "0")
  }

  @Test("an import keeps no new message waiting, and goes in large batches")
  func many() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into tacet.inbox (subject_id, kind, available_at)
      select gen_random_uuid(), 'message', now() - interval '2 years' from generate_series(1, 30000)
      """)
    // What the import costs delays each of three messages; other work on the machine does not.
    var times: [Duration] = []
    while times.count < 3, times.last ?? .seconds(1) >= .seconds(1) {
      let message = try await chat.send()
      let started = ContinuousClock.now
      let claimed = try await withStore(chat.database) { try await $0.claimMessages(Self.limits(), on: $1) }
      times.append(ContinuousClock.now - started)
      #expect(claimed.map(\.subject) == [.message(message)])
    }
    #expect(times.contains { $0 < .seconds(1) }, "\(times)")
    var discarded = 0
    while case let count = try await discard(chat.database), count > 0 { discarded += count }
    #expect(discarded == 30_000)
  }
}
