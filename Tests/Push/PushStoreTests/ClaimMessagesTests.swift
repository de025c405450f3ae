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

  private func claimMessages(_ database: TestDatabase) async throws -> [PushEvent] {
    try await withStore(database) { try await $0.claimMessages(Self.limits, on: $1) }
  }

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

  @Test(
    "it leaves out who stands in the ledger, wherever they are in the order of ids",
    arguments: [[], [0], [4], [0, 4], [2], [1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3, 4]])
  func recorded(_ places: [Int]) async throws {
    let chat = try await Chat(readers: 5)
    let message = try await chat.send()
    let readers = chat.readers.sorted { $0.text < $1.text }
    for place in places {
      try await chat.database.sql(
        """
        insert into tacet.push_log (subject_id, user_id, push_type, decision, enqueued_at)
        values ('\(message)', '\(readers[place])', 'message', 'sent', now())
        """)
    }
    let found = try await claimMessages(chat.database).flatMap(\.recipients).map(\.userID)
    #expect(found == readers.indices.filter { !places.contains($0) }.map { readers[$0] })
  }

  /// Comparing each of 30,000 with each takes four seconds.
  @Test(
    "a large room that comes back, all of whom stand in the ledger, costs about what one look at each does", .uuidsOnly)
  func largeRoomAgain() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql(
      """
      set session_replication_role = replica;
      create temp table members as select md5(n::text)::uuid as id from generate_series(1, 30000) n;
      insert into conversation_participants (conversation_id, user_id)
      select m.conversation_id, u.id from messages m, members u;
      insert into tacet.push_log (subject_id, user_id, push_type, decision, enqueued_at)
      select '\(message)', id, 'message', 'sent', now() from members
      """)
    let begin = ContinuousClock.now
    let found = try await claimMessages(chat.database).flatMap(\.recipients).map(\.userID)
    #expect(found == [chat.reader])
    #expect(ContinuousClock.now - begin < .seconds(2))
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
    #expect(try await claimMessages(chat.database) == [])
    #expect(try await claim(chat.database).count == 3)
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
      #expect(try await service.claim(on: reactor).map(\.subject) == [.message(late)])
    }
  }

  @Test("nobody who stands in the ledger is taken again when a message comes back")
  func comesBack() async throws {
    let chat = try await Chat(readers: 3)
    let message = try await chat.send()
    let first = try await claimMessages(chat.database)
    try await chat.record(first) { RecipientOutcome(userID: $0, decision: .sent) }
    let late = HostID.new()
    try await chat.database.sql(
      """
      insert into profiles (id) values ('\(late)');
      insert into conversation_participants (conversation_id, user_id) values ('\(chat.id)', '\(late)');
      insert into tacet.inbox (subject_id, kind) values ('\(message)', 'message')
      """)
    let again = try await claimMessages(chat.database)
    #expect(again.map { $0.recipients.map(\.userID) } == [[late]])
  }

  @Test("a large message is taken in parts, the first by it and the others by claims of everything")
  func parts() async throws {
    let chat = try await Chat(readers: 5)
    try await chat.send()
    let first = try await withStore(chat.database) { try await $0.claimMessages(Self.threeAtOnce, on: $1) }
    #expect(first.map(\.hasMore) == [true])
    #expect(first.first?.recipients.count == 3)
    try await chat.record(first) { RecipientOutcome(userID: $0, decision: .sent) }
    #expect(try await claimMessages(chat.database) == [])
    let second = try await withStore(chat.database) { try await $0.claim(Self.threeAtOnce, on: $1) }
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
    "whatever the planner believes of the ledger's size, only the index by subject is asked",
    arguments: [PushStatements.claim, PushStatements.claimMessages])
  func plan(_ statement: PostgresStatement) async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql("vacuum analyze tacet.push_log")
    let types = statement.parameterTypes.map { $0 == .array(of: .text) ? "text[]" : $0 == .int8 ? "int8" : "int8[]" }
    let values = types.map { $0 == "int8" ? "10" : "'{}'" }
    let plan = try await database.sql(
      """
      set enable_seqscan = off; set plan_cache_mode = force_generic_plan;
      prepare p (\(types.joined(separator: ","))) as \(statement.sql);
      explain execute p (\(values.joined(separator: ",")))
      """)
    let looks = plan.split(separator: "\n").filter { $0.contains("on push_log") }
    #expect(looks.count == 1)
    #expect(looks.allSatisfy { $0.contains("push_log_subject_idx") }, "\(plan)")
  }
}
