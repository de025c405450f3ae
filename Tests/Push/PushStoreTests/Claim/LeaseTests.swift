import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Leases")
struct LeaseTests {
  @Test("what is claimed is found by nobody until its lease is over, then with one more attempt")
  func expires() async throws {
    let chat = try await Chat()
    try await chat.send()
    #expect(try await claim(chat.database).map(\.attempts) == [1])
    #expect(try await claim(chat.database) == [])
    try await chat.database.sql("update tacet.inbox set available_at = clock_timestamp()")
    #expect(try await claim(chat.database, lease: .microseconds(1)).map(\.attempts) == [2])
    #expect(try await claim(chat.database).map(\.attempts) == [3])
  }

  @Test("the lease is what is due next")
  func due() async throws {
    let chat = try await Chat()
    try await withStore(chat.database) { store, reactor in
      #expect(try await store.timeUntilNextDue(on: reactor) == nil)
      _ = try await chat.send()
      // A claim has seen it, or it is in hand.
      #expect(try await store.timeUntilNextDue(on: reactor) == nil)
      _ = try await store.claim(ClaimLimits(eventsMax: 1, deliveriesMax: 0, lease: .seconds(600)), on: reactor)
      let wait = try #require(try await store.timeUntilNextDue(on: reactor))
      #expect((.seconds(600) - patience...(.seconds(600))).contains(wait))
    }
  }

  @Test("no more is claimed than asked for, the newest first, in the order of their commits")
  func bounded() async throws {
    let chat = try await Chat()
    var messages: [HostID] = []
    for _ in 0..<3 { messages.append(try await chat.send()) }
    var claimed: [[HostID]] = []
    for count in [0, 2, 2] { claimed.append(try await claim(chat.database, eventsMax: count).map(\.subject.id)) }
    #expect(claimed == [[], Array(messages.suffix(2)), Array(messages.prefix(1))])
  }

  @Test("two sessions that claim at the same moment share nothing and leave nothing")
  func disjoint() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into messages (conversation_id, from_id)
      select '\(chat.id)', '\(chat.sender)' from generate_series(1, 1000)
      """)
    try await withSessions(chat.database, 2) { sessions, reactor in
      // The first keeps its transaction open, so that the second meets its locks.
      try await sessions[0].run("begin", on: reactor)
      let first = try await subjects(of: sessions[0], 500, on: reactor)
      let second = try await subjects(of: sessions[1], 500, on: reactor)
      try await sessions[0].run("commit", on: reactor)
      #expect(first.count == 500)
      #expect(second.count == 500)
      #expect(first.isDisjoint(with: second))
      #expect(try await subjects(of: sessions[1], 500, on: reactor) == [])
    }
  }

  @Test("many claims at once take every event exactly once")
  func racing() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into messages (conversation_id, from_id)
      select '\(chat.id)', '\(chat.sender)' from generate_series(1, 1000)
      """)
    try await withStore(chat.database, sessions: 4) { store, reactor in
      let claims = (0..<20).map { _ in
        Begun.begin(on: reactor) {
          try await store.claim(ClaimLimits(eventsMax: 100, deliveriesMax: 0, lease: .seconds(600)), on: reactor)
        }
      }
      var subjects: [PushSubject] = []
      for claim in claims { subjects += try await claim.value(on: reactor).map(\.subject) }
      subjects += try await store.claim(
        ClaimLimits(eventsMax: 1000, deliveriesMax: 0, lease: .seconds(600)), on: reactor
      )
      .map(\.subject)
      #expect(subjects.count == 1000)
      #expect(Set(subjects).count == 1000)
    }
  }

  private func subjects(
    of session: Session, _ count: Int, on reactor: isolated Reactor
  ) async throws -> Set<PushSubject> {
    let limits = ClaimLimits(eventsMax: count, deliveriesMax: 0, lease: .seconds(600))
    let rows = try await session.connection.query(.claim(limits), on: reactor)
    let events = try ClaimRow.events(from: rows, columns: ClaimRow.claim, recipientsMax: limits.recipientsMax)
    return Set(events.map(\.subject))
  }
}

@Suite("Everything at once")
struct AllAtOnceTests {
  @Test(
    "replicas that claim, record and review while hosts read, look, leave and delete: no deadlock, nothing lost",
    .uuidsOnly)
  func randomised() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["RACE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000)
    print("all at once: seed \(seed)")
    let chat = try await Chat(readers: 8)
    let messages = try await sendMessages(12, in: chat)
    try await withSessions(chat.database, 6) { sessions, reactor in
      try await sessions[1].planNestedLoops(on: reactor)
      let work = RacingWork(chat: chat, messages: messages, seed: seed)
      // Two replicas with two sessions between them each, one host with long transactions, one with short ones.
      let running = [
        Begun.begin(on: reactor) { try await work.serve(sessions[0], rounds: 60, on: reactor) },
        Begun.begin(on: reactor) { try await work.serve(sessions[1], rounds: 60, on: reactor) },
        Begun.begin(on: reactor) { try await work.serve(sessions[2], rounds: 60, on: reactor) },
        Begun.begin(on: reactor) { try await work.review(sessions[3], rounds: 60, on: reactor) },
        Begun.begin(on: reactor) { try await work.host(sessions[4], rounds: 60, statements: 1...4, on: reactor) },
        Begun.begin(on: reactor) { try await work.host(sessions[5], rounds: 120, statements: 1...1, on: reactor) },
      ]
      // A deadlock would have been thrown to one of them.
      for worker in running { try await worker.value(on: reactor) }
      try await work.finish(sessions[0], on: reactor)
      #expect(try await work.unsent(sessions[0], on: reactor) == [])
      #expect(work.recorded > 100, "\(work.recorded)")
    }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select count(*) from tacet.push_log where decision = 'held'") == "0")
    #expect(try await chat.database.sql("select * from tacet.trigger_failures") == "")
    #expect(try await chat.database.sql("select * from tacet.parked") == "")
    let everybody = "select count(*) from messages m, conversation_participants p where p.user_id <> m.from_id"
    let told = "select count(*) from messages m join tacet.push_log l on l.subject_id = m.id"
    #expect(try await chat.database.sql("select (\(told)) = (\(everybody))") == "t")
  }

  private func sendMessages(_ count: Int, in chat: Chat) async throws -> [HostID] {
    var messages: [HostID] = []
    for _ in 0..<count { messages.append(try await chat.send()) }
    return messages
  }
}

@Suite("What waits to be claimed")
struct WaitingWorkTests {
  private static let limits = {
    var limits = ClaimLimits(
      eventsMax: 9, deliveriesMax: 9, lanes: ["open": 9], lease: .seconds(30))
    limits.lookBack = .seconds(300)
    return limits
  }()

  private static let inbox = "insert into tacet.inbox (subject_id, kind, available_at) select gen_random_uuid(), "
  private static let delivery = """
    insert into tacet.deliveries (subject_id, user_id, kind, enqueued_at, due_at, state, lane)
    select gen_random_uuid(), gen_random_uuid(), 'message', now(),
    """

  @Test(
    "it names what a claim would find, and nothing that none would",
    arguments: [
      ("select 1", false, false),
      (inbox + "'message', now()", true, false),
      (inbox + "'message', now() - interval '4 minutes'", true, false),
      (inbox + "'message', now() - interval '301 seconds'", false, true),
      (inbox + "'message', now() + interval '1 minute'", false, false),
      (inbox + "'message', now(); update tacet.inbox set attempts = 1", false, true),
      (inbox + "'stored_push', now()", false, true),
      (inbox + "'read_sync', now() + interval '1 minute'", false, false),
      (inbox + "'read_sync', now(); " + inbox + "'message', now()", true, true),
      (delivery + " now(), 'held', null", false, true),
      (delivery + " now() + interval '1 minute', 'held', null", false, false),
      (delivery + " now(), 'waiting', 'open'", false, true),
      (delivery + " now(), 'waiting', 'shut'", false, false),
    ] as [(String, Bool, Bool)])
  func named(_ statements: String, _ hasMessages: Bool, _ hasOthers: Bool) async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(statements)
    let waiting = try await withStore(database) { try await $0.waitingWork(Self.limits, on: $1) }
    #expect(waiting == WaitingWork(hasMessages: hasMessages, hasChangedRows: false, hasOthers: hasOthers))
    let messages = try await withStore(database) { try await $0.claimMessages(Self.limits, on: $1) }
    #expect(messages.isEmpty == !hasMessages)
    var limits = Self.limits
    limits.held = messages.map(\.subject.id).sorted()
    let others = try await withStore(database) { [limits] in try await $0.claim(limits, on: $1) }
    #expect(others.isEmpty == !hasOthers)
  }

  @Test("a lease hides its message until it is over")
  func leased() async throws {
    let chat = try await Chat()
    try await chat.send()
    #expect(try await claim(chat.database).count == 1)
    let leased = try await withStore(chat.database) { try await $0.waitingWork(Self.limits, on: $1) }
    #expect(leased == WaitingWork(hasMessages: false, hasChangedRows: false, hasOthers: false))
    try await chat.send()
    #expect(try await claim(chat.database, lease: .microseconds(1)).count == 1)
    let over = try await withStore(chat.database) { try await $0.waitingWork(Self.limits, on: $1) }
    #expect(over == WaitingWork(hasMessages: false, hasChangedRows: false, hasOthers: true))
  }
}

@Suite("Dates that a host's users write")
struct FutureDatesTests {
  private func situation(_ chat: Chat) async throws -> RecipientSituation {
    let event = try #require(try await claim(chat.database).last)
    return try #require(event.recipients.first).situation
  }

  /// A date, and whether it proves presence.
  private static let dates: [(String, Bool)] = [
    ("clock_timestamp()", true), ("now() - interval '20 seconds'", true),
    ("clock_timestamp() + interval '1 minute'", false),
    ("'2099-01-01'", false), ("'294276-12-31'", false), ("'infinity'", false), ("'-infinity'", false),
    ("'4713-01-01 BC'", false),
  ]

  @Test(
    "a look, or a read, of the past minute holds; one of the future, or of no time, proves nothing", arguments: dates)
  func presence(_ date: String, _ holds: Bool) async throws {
    let looking = try await Chat()
    try await looking.see(date)
    try await looking.register("aa")
    try await looking.send()
    let policy = SuppressionPolicy()
    #expect((policy.decision(for: try await situation(looking)) != .send) == holds)
    let reading = try await Chat()
    try await reading.register("bb")
    try await reading.send("'first'", ["updated_at": date, "read_by": "array['\(reading.reader)'::uuid]"])
    try await reading.database.sql("truncate tacet.inbox")
    try await reading.send()
    #expect((policy.decision(for: try await situation(reading)) != .send) == holds)
  }

  @Test("a message dated 2099 is not the newest other message", arguments: ["2099-01-01", "infinity", "294276-12-31"])
  func newestOther(_ date: String) async throws {
    let chat = try await Chat()
    try await chat.send(
      "'seen'", ["read_by": "array['\(chat.reader)'::uuid]", "updated_at": "now() - interval '30 s'"])
    try await chat.send("'trap'", ["created_at": "'\(date)'", "read_by": "'{}'"])
    try await chat.database.sql("truncate tacet.inbox")
    try await chat.send()
    #expect(try #require(try await situation(chat).newestOtherReadAge) >= .seconds(30))
  }

  @Test(
    "a client has left when it said so by now, and after its last look of the past",
    arguments: [
      ("now()", "clock_timestamp()", true), ("now()", "now() + interval '1 hour'", false),
      ("now()", "'infinity'", false),
      ("now() + interval '1 hour'", "now()", false), ("'infinity'", "'infinity'", false),
    ])
  func left(_ lastSeen: String, _ leftAt: String, _ hasLeft: Bool) async throws {
    let chat = try await Chat()
    try await chat.see(lastSeen, left: leftAt)
    try await chat.send()
    #expect(try await situation(chat).hasLeft == hasLeft)
  }

  @Test(
    "seen after it came: a message's own date counts when it lies in the past, and so does the look",
    arguments: [
      ("'2099-01-01'", "clock_timestamp()", true), ("'infinity'", "clock_timestamp()", true),
      ("'-infinity'", "clock_timestamp()", true), ("now() - interval '1 minute'", "clock_timestamp()", true),
      ("now()", "now() + interval '1 hour'", false), ("now()", "'infinity'", false),
    ])
  func sawAfter(_ createdAt: String, _ lastSeen: String, _ isSeen: Bool) async throws {
    let chat = try await Chat()
    try await chat.send("'x'", ["created_at": createdAt])
    try await chat.see(lastSeen)
    #expect(try await situation(chat).sawAfterMessage == isSeen)
  }
}

@Suite("Whose claim it is")
struct FenceTests {
  private func held(_ user: HostID) -> RecipientOutcome {
    RecipientOutcome(userID: user, decision: .held, reason: "user_viewing", due: .zero, remaining: .held)
  }

  /// A delivery that was claimed twice: by somebody whose lease ran out, and then again.
  private func claimedTwice() async throws -> (chat: Chat, stale: [PushEvent], present: [PushEvent]) {
    let chat = try await Chat()
    try await chat.decide { self.held($0) }
    let stale = try await claim(chat.database, lease: .zero)
    return (chat, stale, try await claim(chat.database))
  }

  @Test("a late finisher of a delivery changes nothing, except that what was sent was sent")
  func lateDelivery() async throws {
    let (chat, stale, present) = try await claimedTwice()
    try await chat.record(stale) { RecipientOutcome(userID: $0, decision: .skipped, reason: "already_read") }
    #expect(try await chat.database.sql("select decision from tacet.push_log") == "held")
    #expect(try await chat.left() == "0|1")
    try await chat.record(stale) { RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: ["aa"]) }
    #expect(try await chat.database.sql("select decision from tacet.push_log") == "sent")
    #expect(try await chat.left() == "0|1")
    try await chat.record(present) { self.held($0) }
    #expect(try await chat.database.sql("select decision from tacet.push_log") == "sent")
    #expect(try await chat.left() == "0|0", "nothing remains for somebody who has it")
  }

  @Test("a device that a late finisher has reached is not reached again")
  func lateDevices() async throws {
    let (chat, stale, present) = try await claimedTwice()
    try await chat.register("aa")
    try await chat.register("bb")
    try await chat.record(stale) { RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: ["aa"]) }
    try await chat.record(present) {
      RecipientOutcome(userID: $0, decision: .sent, due: .zero, remaining: .retryable, acceptedDevices: ["bb"])
    }
    let recipient = try #require(try await claim(chat.database).first?.recipients.first)
    #expect(recipient.targets.isEmpty)
    #expect(Set(recipient.acceptedDevices) == ["aa", "bb"])
  }

  @Test("a late hold does not move the due time of the present claim")
  func lateHold() async throws {
    let (chat, stale, _) = try await claimedTwice()
    let due = "select due_at, attempts, is_claimed from tacet.deliveries"
    let before = try await chat.database.sql(due)
    try await chat.record(stale) { self.held($0) }
    #expect(try await chat.database.sql(due) == before)
  }

  @Test("a late hold of an event that was recorded meanwhile leaves no work")
  func lateEvent() async throws {
    let chat = try await Chat()
    try await chat.send()
    let stale = try await claim(chat.database, lease: .zero)
    try await chat.record(try await claim(chat.database)) { RecipientOutcome(userID: $0, decision: .sent) }
    try await chat.record(stale) { self.held($0) }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select decision from tacet.push_log") == "sent")
  }

  @Test("a recorded part of an event is no longer the finisher's to end")
  func parts() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.send()
    var limits = ClaimLimits(eventsMax: 1, deliveriesMax: 1, lease: .zero)
    limits.recipientsMax = 1
    let parts = limits
    func claimPart() async throws -> [PushEvent] {
      try await withStore(chat.database) { try await $0.claim(parts, on: $1) }
    }
    let stale = try await claimPart()
    #expect(stale.map(\.hasMore) == [true])
    let first = try await claimPart()
    try await chat.record(first) { RecipientOutcome(userID: $0, decision: .sent) }
    let second = try await claimPart()
    #expect(second.first?.recipients.count == 1)
    #expect(second.first?.recipients != first.first?.recipients)
    try await chat.record(stale) { RecipientOutcome(userID: $0, decision: .skipped) }
    #expect(try await chat.database.sql("select is_claimed, rescues from tacet.inbox") == "t|0")
    try await chat.record(second) { RecipientOutcome(userID: $0, decision: .sent) }
    let last = try await claimPart()
    #expect(last.map(\.recipients) == [[]])
    #expect(last.map(\.hasMore) == [false])
    try await chat.record(last) { RecipientOutcome(userID: $0, decision: .sent) }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select count(*) from tacet.push_log where decision = 'sent'") == "2")
  }

  @Test("the time a push was held counts, over several holds and not beyond them")
  func heldFor() async throws {
    let chat = try await Chat()
    try await chat.decide { self.held($0) }
    func age(_ interval: String) async throws {
      try await chat.database.sql(
        """
        update tacet.deliveries set since = since - interval '\(interval)', enqueued_at = enqueued_at - interval '\(interval)'
        """)
    }
    func heldFor(_ events: [PushEvent]) throws -> Duration {
      try #require(events.first?.recipients.first).situation.heldFor
    }
    try await age("400 s")
    let first = try await claim(chat.database, lease: .zero)
    #expect(try (.seconds(400)...(.seconds(400) + patience)).contains(heldFor(first)))
    try await chat.record(first) {
      var outcome = self.held($0)
      outcome.heldFor = .seconds(400)
      return outcome
    }
    try await age("200 s")
    let second = try await claim(chat.database, lease: .zero)
    #expect(try (.seconds(600)...(.seconds(600) + patience)).contains(heldFor(second)))
    try await chat.record(second) {
      var outcome = RecipientOutcome(userID: $0, decision: .held, due: .zero, remaining: .retryable)
      outcome.heldFor = .seconds(600)
      return outcome
    }
    try await age("1000 s")
    let third = try await claim(chat.database, lease: .zero)
    #expect(try heldFor(third) == .seconds(600))
    let recipient = try #require(third.first?.recipients.first)
    #expect(recipient.situation.messageAge >= .seconds(1600))
  }
}
