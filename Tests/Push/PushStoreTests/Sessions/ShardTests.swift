import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Shards of conversations")
struct ShardTests {
  private static let lease = Duration.seconds(600)

  private static func process(_ number: Int) -> ServiceInstance {
    ServiceInstance(id: "process\(number)", host: "here", processID: Int32(number), version: "1")
  }

  private func hold(_ number: Int, in database: TestDatabase, for lease: Duration = lease) async throws -> [HeldShard] {
    try await withStore(database) { try await $0.holdShards(of: Self.process(number), for: lease, on: $1) }
  }

  private func end(_ number: Int, in database: TestDatabase) async throws {
    try await database.sql("update tacet.instances set lease_until = clock_timestamp() where id = 'process\(number)'")
  }

  @Test("a process says that it lives, again, and that it ends")
  func signs() async throws {
    let database = try await TestDatabase.migrated()
    let rows = "select id, host, pid, version, seen_at > started_at, stopped_at is null from tacet.instances"
    _ = try await hold(42, in: database)
    _ = try await hold(42, in: database)
    #expect(try await database.sql(rows) == "process42|here|42|1|t|t")
    try await withStore(database) { try await $0.end(Self.process(42), on: $1) }
    #expect(try await database.sql(rows) == "process42|here|42|1|t|f")
  }

  @Test("one process has them all, and keeps them")
  func alone() async throws {
    let database = try await TestDatabase.migrated()
    let held = try await hold(1, in: database)
    #expect(held.map(\.number) == Array(0..<OwnedShards.count))
    #expect(try await hold(1, in: database) == held)
  }

  @Test("processes share them evenly once each has given up what is too much", arguments: [2, 3, 5, 16])
  func shares(_ count: Int) async throws {
    let database = try await TestDatabase.migrated()
    for _ in 0..<2 {
      for number in 0..<count {
        let surplus = try await hold(number, in: database).filter(\.isSurplus).map(\.number)
        try await withStore(database) { try await $0.giveUp(surplus, of: Self.process(number).id, on: $1) }
      }
    }
    var owned: [[Int32]] = []
    for number in 0..<count { owned.append(try await hold(number, in: database).map(\.number)) }
    #expect(owned.flatMap { $0 }.sorted() == Array(0..<OwnedShards.count))
    #expect(owned.allSatisfy { $0.count == 16 / count || $0.count == 16 / count + 1 })
  }

  @Test("a process whose lease is over loses them, and what it had leased is available at once")
  func dead() async throws {
    let chat = try await Chat()
    _ = try await hold(1, in: chat.database)
    try await chat.send()
    #expect(try await claim(chat.database).map(\.attempts) == [1])
    #expect(try await hold(2, in: chat.database).isEmpty)
    try await end(1, in: chat.database)
    let taken = try await hold(2, in: chat.database)
    #expect(taken.count == 16 && taken.allSatisfy { !$0.isSurplus })
    #expect(try await claim(chat.database).map(\.attempts) == [2])
    #expect(try await hold(1, in: chat.database).isEmpty)
    #expect(try await hold(2, in: chat.database).count { $0.isSurplus } == 8)
  }

  @Test("a process that ends gives them to the others")
  func ends() async throws {
    let database = try await TestDatabase.migrated()
    _ = try await hold(1, in: database)
    #expect(try await hold(2, in: database).isEmpty)
    try await withStore(database) { try await $0.end(Self.process(1), on: $1) }
    #expect(try await hold(2, in: database).count == 16)
  }

  @Test("a process that gives up all of them has no lease, so that the next one has all")
  func sleeps() async throws {
    let database = try await TestDatabase.migrated()
    let held = try await hold(1, in: database).map(\.number)
    try await withStore(database) { try await $0.giveUp(held, of: Self.process(1).id, on: $1) }
    #expect(try await hold(2, in: database).count == 16)
  }

  @Test("a change of owner waits for the disk, a renewal does not")
  func durable() async throws {
    let database = try await TestDatabase.migrated()
    try await withSessions(database, 1) { sessions, reactor in
      for expected in ["on", "off"] {
        try await sessions[0].run("set synchronous_commit = off; begin", on: reactor)
        let call = StatementCall.holdShards(
          instanceID: "a", host: "here", processID: Int32(1), version: "1", leaseMicroseconds: Int64(600_000_000))
        #expect(try await sessions[0].connection.query(call, on: reactor).count == 16)
        #expect(try await sessions[0].value("current_setting('synchronous_commit')", on: reactor) == expected)
        try await sessions[0].run("commit", on: reactor)
      }
    }
  }

  @Test("a message is claimed by the owner of its conversation alone, and not while it is in hand")
  func owned() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    let shard =
      Int32(try await chat.database.sql("select tacet.shard_of(kind, subject_id, conversation_id) from tacet.inbox"))
      ?? -1
    var limits = ClaimLimits(eventsMax: 10, deliveriesMax: 10, lease: .seconds(30))
    func claimMessages() async throws -> [PushEvent] {
      try await withStore(chat.database) { [limits] in try await $0.claimMessages(limits, on: $1) }
    }
    func hasMessages() async throws -> Bool {
      try await withStore(chat.database) { [limits] in try await $0.hasMessages(limits, on: $1) }
    }
    limits.owned = OwnedShards((0..<16).filter { $0 != shard }.map { HeldShard(number: $0) })
    #expect(try await claimMessages().isEmpty)
    #expect(try await hasMessages() == false)
    limits.owned = OwnedShards([HeldShard(number: shard)])
    let claimed = try await claimMessages()
    #expect(claimed.map(\.subject) == [.message(message)] && claimed.map(\.shard) == [shard])
    #expect(try await hasMessages() == true)
    limits.held = [message]
    #expect(try await claimMessages().isEmpty)
    #expect(try await hasMessages() == false)
    let others = try await withStore(chat.database) { [limits] in try await $0.claim(limits, on: $1) }
    #expect(others.isEmpty)
    try await chat.record(claimed) { RecipientOutcome(userID: $0, decision: .sent) }
    #expect(try await chat.left() == "0|0")
  }

  @Test("of many messages only those are claimed that are not in hand, in whatever order they were inserted")
  func inHand() async throws {
    let chat = try await Chat()
    var messages: [HostID] = []
    for _ in 0..<40 { messages.append(try await chat.send()) }
    var limits = ClaimLimits(eventsMax: 100, deliveriesMax: 10, lease: .seconds(30))
    limits.held = messages.prefix(30).sorted()
    let claimed = try await withStore(chat.database) { [limits] in try await $0.claimMessages(limits, on: $1) }
    #expect(Set(claimed.map(\.subject.id)) == Set(messages.dropFirst(30)))
  }

  @Test("what was enqueued before a shard was taken is left to a claim that counts it")
  func leftBehind() async throws {
    let chat = try await Chat()
    try await chat.send()
    var limits = ClaimLimits(eventsMax: 10, deliveriesMax: 10, lease: .seconds(30))
    let now = Int64(try await chat.database.sql("select tacet.unix_us(clock_timestamp())")) ?? 0
    limits.owned = OwnedShards((0..<OwnedShards.count).map { HeldShard(number: $0, takenAt: now) })
    let new = try await withStore(chat.database) { [limits] in try await $0.claimMessages(limits, on: $1) }
    #expect(new.isEmpty)
    let claimed = try await withStore(chat.database) { [limits] in try await $0.claim(limits, on: $1) }
    #expect(claimed.map(\.attempts) == [1])
  }

  @Test("of two processes that have a message in hand, one records it")
  func recordedOnce() async throws {
    let chat = try await Chat()
    try await chat.send()
    let limits = ClaimLimits(eventsMax: 10, deliveriesMax: 10, lease: .seconds(30))
    let former = try await withStore(chat.database) { try await $0.claimMessages(limits, on: $1) }
    let owner = try await claim(chat.database)
    try await chat.record(former) { RecipientOutcome(userID: $0, decision: .skipped, reason: "muted") }
    #expect(try await chat.left() == "1|0")
    try await chat.record(owner) { RecipientOutcome(userID: $0, decision: .sent) }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select decision from tacet.push_log") == "sent")
  }

  @Test("the ledger tells what was handed over in which burst, the newest message last")
  func folded() async throws {
    let chat = try await Chat()
    var messages: [HostID] = []
    for number in 0..<3 {
      let message = try await chat.send()
      let first = messages.first
      messages.append(message)
      let event = try #require(try await claim(chat.database).first)
      var outcome = RecipientOutcome(userID: chat.reader, decision: number == 1 ? .failed : .sent)
      outcome.recipient = event.recipients[0]
      outcome.fold = HistoryEntry.Fold(sounds: number == 0, more: number, burst: first, begunAt: 5)
      let decided = DecidedEvent(event: event, outcomes: [outcome], deadTargets: [], wokenBy: "notify")
      try await withStore(chat.database) { try await $0.record([decided], on: $1) }
    }
    let told = try await withStore(chat.database) {
      try await $0.foldedMessages(to: [chat.reader], since: 0, on: $1)
    }
    #expect(told.map(\.message.id) == messages && told.allSatisfy { $0.first.id == messages[0] && $0.begunAt == 5 })
    #expect(told.map(\.isShown) == [true, false, true] && told.map(\.sounds) == [true, false, false])
    #expect(told.map(\.more) == [0, 1, 2])
  }
}
