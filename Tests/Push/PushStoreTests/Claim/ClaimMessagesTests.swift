import Foundation
import Postgres
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("A claim of messages")
struct ClaimMessagesTests {
  private static let limits = ClaimLimits(eventsMax: 100, deliveriesMax: 100, lease: .seconds(30))
  private static let threeAtOnce = {
    var few = limits
    few.recipientsMax = 3
    return few
  }()

  @Test("it says of new messages what a claim of everything says")
  func same() async throws {
    let chat = try await Chat(readers: 3)
    try await chat.see("now() - interval '10 seconds'", left: "now()", user: chat.readers[0])
    try await chat.register("aa11", of: chat.readers[1])
    try await chat.send("'first'", ["read_by": "'{\(chat.readers[2])}'"])
    try await chat.send("'second'")
    let events = try await claimMessages(chat.database)
    try await chat.database.sql("update tacet.inbox set is_claimed = false, available_at = now(), attempts = 0")
    let whole = try await claim(chat.database)
    #expect(events.map(\.subject) == whole.map(\.subject))
    #expect(events.map(\.message) == whole.map(\.message))
    #expect(events.map(\.attempts) == whole.map(\.attempts))
    for (event, other) in zip(events, whole) {
      #expect(Set(event.recipients.map(\.userID)) == Set(chat.readers))
      for recipient in event.recipients {
        let same = try #require(other.recipients.first { $0.userID == recipient.userID })
        #expect(recipient.targets == same.targets)
        #expect(recipient.badge == same.badge)
        #expect(recipient.situation.hasRead == same.situation.hasRead)
        #expect(recipient.situation.hasLeft == same.situation.hasLeft)
        #expect(recipient.situation.deviceCount == same.situation.deviceCount)
      }
    }
  }

  @Test("it leaves other kinds, what a lost claim holds, and what is due to others")
  func others() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql(
      """
      insert into tacet.inbox (subject_id, kind) values (gen_random_uuid(), 'request_claimed');
      insert into tacet.inbox (subject_id, kind, is_claimed, attempts, available_at)
      values (gen_random_uuid(), 'message', true, 1, now() - interval '1 second');
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state)
      values (now(), now(), gen_random_uuid(), gen_random_uuid(), 'message', 'held')
      """)
    #expect(try await claimMessages(chat.database).map(\.subject) == [.message(message)])
    #expect(try await claim(chat.database).count == 4)
    #expect(try await claimMessages(chat.database) == [])
  }

  @Test("it looks back as far as it is told, and a claim of everything finds what committed later than that")
  func lateCommit() async throws {
    let chat = try await Chat()
    let (late, new) = (HostID.new(), HostID.new())
    try await withTwoSessions(chat.database) { host, service, reactor in
      let backdated = "update tacet.inbox set available_at = available_at - interval '1 minute'"
      try await host.run("begin; \(chat.insertion(of: late)); \(backdated)", on: reactor)
      try await service.run(chat.insertion(of: new), on: reactor)
      try await host.run("commit", on: reactor)
      var limits = Self.limits
      limits.lookBack = .seconds(50)
      let rows = try await service.connection.query(.claimMessages(limits), on: reactor)
      let events = try ClaimRow.events(from: rows, columns: ClaimRow.claimMessages, recipientsMax: 250)
      #expect(events.map(\.subject) == [.message(new)])
      #expect(Set(try await service.claim(on: reactor).map(\.subject)) == [.message(late), .message(new)])
    }
  }

  @Test("a large message is taken in parts")
  func parts() async throws {
    let chat = try await Chat(readers: 5)
    try await chat.send()
    let first = try await withStore(chat.database) { try await $0.claimMessages(Self.threeAtOnce, on: $1) }
    #expect(first.map(\.hasMore) == [true])
    #expect(first.first?.recipients.count == 3)
    try await chat.record(first) { RecipientOutcome(userID: $0, decision: .sent) }
    let second = try await withStore(chat.database) { try await $0.claimMessages(Self.threeAtOnce, on: $1) }
    let taken = (first + second).flatMap(\.recipients).map(\.userID)
    #expect(Set(taken) == Set(chat.readers))
    #expect(taken.count == 5)
  }

  @Test("what is due of a large message is claimed beside the rest of it")
  func dueBesideRest() async throws {
    let chat = try await Chat(readers: 5)
    try await chat.send()
    let first = try await withStore(chat.database) { try await $0.claimMessages(Self.threeAtOnce, on: $1) }
    try await chat.record(first) { .held($0, for: .zero) }
    let both = try await withStore(chat.database) { try await $0.claim(Self.threeAtOnce, on: $1) }
    #expect(both.map(\.origin) == [.inbox] + [PushEvent.Origin](repeating: .delivery, count: 3))
    let taken = both.flatMap(\.recipients)
    #expect(Set(taken.map(\.userID)) == Set(chat.readers))
    #expect(taken.filter(\.isParticipant).count == 5)
  }

  @Test(
    "whatever the planner believes of the ledger's size, a claim asks its index by subject alone, and one of messages nothing"
  )
  func plan() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql("vacuum analyze tacet.push_log")
    for (statement, arguments, count) in [
      (PushStatements.claim, "10, 10, 30000000, 250, 6, '{}', '{}', 3600000000, '{0,1}', '{}'", 1),
      (PushStatements.claimMessages, "10, 250, 300000000, 0, '{0,1}', '{}'", 0),
    ] {
      let plan = try await database.explain(statement, arguments, "force_generic_plan")
      let looks = plan.split(separator: "\n").filter { $0.contains("on push_log") }
      #expect(looks.count == count, "\(plan)")
      #expect(looks.allSatisfy { $0.contains("push_log_subject_idx") }, "\(plan)")
    }
  }
}

@Suite("The bounds of a claim")
struct ClaimBoundsTests {
  /// Claims by both statements, the second time as if nothing had happened.
  private func bothClaims(_ database: TestDatabase) async throws -> [PushEvent] {
    let limits = ClaimLimits(eventsMax: 100, deliveriesMax: 100, lease: .seconds(30))
    let messages = try await withStore(database) { try await $0.claimMessages(limits, on: $1) }
    try await database.sql("update tacet.inbox set is_claimed = false, available_at = now(), attempts = 0")
    let all = try await claim(database)
    #expect(messages.count == all.count)
    return messages + all
  }

  @Test(
    "a name and a text of a megabyte are cut in the database, also from a function that the host has replaced",
    arguments: [false, true])
  func texts(_ isReplaced: Bool) async throws {
    let chat = try await Chat(readers: 3)
    if isReplaced {
      try await chat.database.sql(
        """
        create or replace function tacet.message_context(message_id uuid)
        returns table (
          conversation_id uuid, sender_id uuid, sender_name text, body text, created_at timestamptz, read_by uuid[],
          prior_read_by uuid[], prior_touched_at timestamptz
        ) language sql stable as $$
          select m.conversation_id, m.from_id, p.name, m.text, m.created_at, m.read_by, null::uuid[], null::timestamptz
          from public.messages m, public.profiles p, generate_series(1, 3)
          where p.id = m.from_id and m.id = message_context.message_id
        $$
        """)
    }
    try await chat.database.sql("update profiles set name = repeat('é', 1000000) where name is not null")
    try await chat.send("repeat('😀', 1000000)")
    for event in try await bothClaims(chat.database) {
      #expect(event.message?.senderName == String(repeating: "é", count: 1024))
      #expect(event.message?.text == String(repeating: "😀", count: 4096))
      #expect(event.recipients.map(\.userID) == chat.readers)
    }
  }

  @Test("the words of an event are sent once, however many recipients it has")
  func wordsOnce() async throws {
    let chat = try await Chat(readers: 20)
    try await chat.send()
    try await withStore(chat.database) { store, reactor in
      let limits = ClaimLimits(eventsMax: 1, deliveriesMax: 1, lease: .seconds(30))
      let rows = try await store.pool.query(.claimMessages(limits), on: reactor)
      let names = try rows.map { try $0.decode("sender_name", as: String?.self) }
      #expect(names == ["Ada"] + [String?](repeating: nil, count: 19))
      #expect(try rows.compactMap { try $0.decode("body", as: String?.self) } == ["Hello"])
    }
  }

  @Test(
    "a user's newest devices are taken, and none whose address is longer than one can be", arguments: [false, true])
  func devices(_ isReplaced: Bool) async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into push_tokens (user_id, device_token, registered_at)
      select '\(chat.reader)', lpad(to_hex(n), 8, '0'), now() - n * interval '1 second' from generate_series(1, 900) n;
      insert into push_tokens (user_id, device_token)
      select '\(chat.reader)', n || repeat(U&'\\0301', 100000) from generate_series(1, 5) n
      """)
    try await chat.register(String(repeating: "ab", count: 256), ["registered_at": "now() + interval '1 hour'"])
    try await chat.register(String(repeating: "cd", count: 513), ["registered_at": "now() + interval '1 hour'"])
    if isReplaced {
      try await chat.database.sql(
        """
        create or replace function tacet.device_tokens(user_id uuid)
        returns table (device_token text, environment text, app text) language sql stable as $$
          select t.device_token, repeat('x', 100000), repeat('x', 100000) from public.push_tokens t
          where t.user_id = device_tokens.user_id
        $$
        """)
    }
    try await chat.send()
    for event in try await bothClaims(chat.database) {
      let devices = try #require(event.recipients.first).targets
      #expect(devices.count == ClaimLimits.devicesMax)
      #expect(devices.allSatisfy { $0.address.utf8.count <= 1024 })
      if isReplaced {
        #expect(devices.allSatisfy { $0.environment?.utf8.count == 32 && $0.app?.utf8.count == 256 })
      } else {
        let newest = (1..<50).map { "000000" + String(format: "%02x", $0) }
        #expect(devices.map(\.address) == [String(repeating: "ab", count: 256)] + newest)
      }
    }
  }

  @Test(
    "of those who have read a message the last ten thousand are asked about",
    arguments: [(10_000, true), (10_001, false)])
  func readers(_ readersBehind: Int, _ hasRead: Bool) async throws {
    let chat = try await Chat()
    let others = "array(select gen_random_uuid() from generate_series(1, \(readersBehind - 1)))"
    try await chat.send("'x'", ["read_by": "array['\(chat.reader)'::uuid] || \(others)"])
    for event in try await bothClaims(chat.database) {
      #expect(event.recipients.map(\.situation.hasRead) == [hasRead])
    }
  }

  @Test("a recipient whom the host's function names twice is one")
  func twice() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.database.sql(
      """
      create or replace function tacet.seen_by(conversation_id uuid)
      returns table (user_id uuid, last_seen timestamptz, left_at timestamptz) language sql stable as $$
        select c.user_id, null::timestamptz, null::timestamptz
        from public.conversation_participants c, generate_series(1, 3)
        where c.conversation_id = seen_by.conversation_id
      $$
      """)
    try await chat.send()
    let events = try await bothClaims(chat.database)
    #expect(events.allSatisfy { $0.recipients.map(\.userID) == chat.readers })
    try await chat.record([events[1]]) { .held($0, for: .zero) }
    let due = try await claim(chat.database)
    #expect(due.map(\.origin) == [.delivery, .delivery])
    #expect(due.flatMap(\.recipients).map(\.userID) == chat.readers)
  }

  @Test(
    "whatever the host counts, a badge is a number from 0 to BADGE_MAX, or none",
    arguments: [("-5", 0), ("0", 0), ("999", 999), ("1000", 999), ("9223372036854775807", 999), ("null", nil)])
  func badge(_ counted: String, _ badge: Int?) async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      create or replace function tacet.unread_count(user_id uuid) returns bigint language sql stable as 'select \(counted)::bigint'
      """)
    try await chat.register("a1")
    try await chat.send()
    #expect(try await bothClaims(chat.database).flatMap(\.recipients).map(\.badge) == [badge, badge])
    try await chat.database.sql("delete from push_tokens")
    #expect(try await chat.read() == .marked(count: 1, badge: badge ?? 0, syncWait: nil))
  }

  @Test("quiet hours are asked for again after two days, however long a host says that they last")
  func quietHours() async throws {
    for (interval, seconds) in [
      ("178000000 years", 172_800), ("2 days", 172_800), ("47 hours", 169_200), ("1 us", 0.000_001),
      ("-178000000 years", nil), ("0", nil),
    ] as [(String, Double?)] {
      let chat = try await Chat()
      try await chat.database.sql(
        """
        create or replace function tacet.recipient_preferences(user_id uuid, kind text, surface_id uuid, moment timestamptz)
        returns table (
          is_opted_out boolean, is_muted boolean, mentions_only boolean, quiet_hours_remaining interval,
          quiet_hours_policy text
        ) language sql stable as $$ select null::boolean, null::boolean, null::boolean, interval '\(interval)', repeat('x', 9) $$
        """)
      try await chat.send()
      let remaining = try await claim(chat.database).flatMap(\.recipients).map(\.situation.quietHoursRemaining)
      #expect(remaining == [seconds.map { .seconds($0) }], "\(interval)")
    }
  }

  @Test("of the devices that have a push already, those are taken that the user still has, and 50 in all")
  func acceptedDevices() async throws {
    let chat = try await Chat()
    for token in ["aa", "bb", "cc"] { try await chat.register(token) }
    try await chat.send()
    try await chat.record(try await claim(chat.database)) {
      RecipientOutcome(userID: $0, decision: .held, due: .zero, remaining: .retryable)
    }
    try await chat.database.sql(
      """
      update tacet.deliveries set accepted_devices =
        array(select md5(n::text) from generate_series(1, 100000) n) || repeat('é', 1000000)::text || '{bb,cc}'::text[]
      """)
    let accepted = try #require(try await claim(chat.database).first?.recipients.first?.acceptedDevices)
    #expect(accepted.count == 50)
    #expect(Set(accepted).isSuperset(of: ["bb", "cc"]))
    #expect(accepted.allSatisfy { $0.utf8.count <= 1024 })
    try await chat.database.sql(
      """
      update tacet.deliveries set due_at = now(), is_claimed = false, accepted_devices = array[repeat('é', 1000000)]
      """)
    let cut = try await claim(chat.database).first?.recipients.first?.acceptedDevices
    #expect(cut == [String(repeating: "é", count: 512)])
  }

  @Test("a part of a large event begins where the last one ended, whatever the ledger has forgotten, and has badges")
  func parts() async throws {
    let chat = try await Chat(readers: 5)
    for reader in chat.readers { try await chat.register("\(reader)", of: reader) }
    try await chat.send()
    var limits = ClaimLimits(eventsMax: 10, deliveriesMax: 10, lease: .seconds(30))
    limits.recipientsMax = 2
    var taken: [[HostID]] = []
    var badges: [[Int?]] = []
    for _ in 0..<3 {
      let events = try await withStore(chat.database) { [limits] in try await $0.claim(limits, on: $1) }
      try #require(events.count == 1)
      taken.append(events[0].recipients.map(\.userID))
      badges.append(events[0].recipients.map(\.badge))
      try await chat.record(events) { RecipientOutcome(userID: $0, decision: .sent) }
      try await chat.database.sql(
        "delete from tacet.push_log where user_id <> '\(events[0].recipients.last?.userID ?? HostID.new())'")
    }
    #expect(taken == [Array(chat.readers[..<2]), Array(chat.readers[2..<4]), [chat.readers[4]]])
    #expect(badges == [[1, 1], [1, 1], [1]])
    #expect(try await chat.left() == "0|0")
  }
}
