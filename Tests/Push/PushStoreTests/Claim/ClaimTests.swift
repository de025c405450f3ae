import Foundation
import Testing

@testable import PushRules
@testable import PushStore

@Suite("Claim")
struct PushStatementsClaimTests {
  @Test("a new message comes with its text, its sender's name and everybody else of the conversation")
  func whole() async throws {
    let chat = try await Chat(readers: 3)
    let message = try await chat.send("'Good morning'", ["created_at": "now() + interval '1 min'"])
    let events = try await claim(chat.database)
    let event = try #require(events.first)
    #expect(events.count == 1)
    #expect(event.subject == .message(message))
    #expect(event.origin == .inbox)
    #expect(event.attempts == 1)
    #expect((0...60_000_000).contains(event.claimedAt - event.enqueuedAt))
    #expect(event.message == MessagePush(conversationID: chat.id, senderName: "Ada", text: "Good morning"))
    #expect(Set(event.recipients.map(\.userID)) == Set(chat.readers))
    for recipient in event.recipients {
      let age = Duration.microseconds(event.claimedAt - event.enqueuedAt)
      #expect(recipient.situation == RecipientSituation(messageAge: age, deviceCount: 0))
      #expect(recipient.isParticipant)
      // Without a device there is no push to carry one.
      #expect(recipient.badge == nil)
      #expect(recipient.targets == [])
      #expect(recipient.acceptedDevices == [])
    }
  }

  @Test(
    "presence is the database's own age of the last sign of it",
    arguments: [
      ("null", nil), ("now() - interval '30 seconds'", 30), ("now() - interval '10 days'", 864_000),
      ("now() + interval '1 hour'", -3600),
    ] as [(String, Int64?)])
  func presence(_ lastSeen: String, _ seconds: Int64?) async throws {
    let chat = try await Chat()
    try await chat.see(lastSeen)
    try await chat.send()
    let age = try await situation(chat).lastSeenAge
    if let seconds {
      #expect(try (.seconds(seconds)...(.seconds(seconds) + patience)).contains(#require(age)))
    } else {
      #expect(age == nil)
    }
  }

  @Test("a sign of presence after the message is told from one before it")
  func sawAfter() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.see("clock_timestamp()", user: chat.readers[0])
    try await chat.send()
    try await chat.see("clock_timestamp()", user: chat.readers[1])
    let recipients = try #require(try await claim(chat.database).first).recipients
    let saw = recipients.reduce(into: [:]) { $0[$1.userID] = $1.situation.sawAfterMessage }
    #expect(saw == [chat.readers[0]: false, chat.readers[1]: true])
  }

  @Test(
    "a client that said it left counts as gone until it is seen again",
    arguments: [
      ("now()", "null", false), ("now()", "now()", true), ("now() - interval '1 s'", "now()", true),
      ("now()", "now() - interval '1 s'", false), ("null", "now()", false),
    ])
  func left(_ lastSeen: String, _ left: String, _ hasLeft: Bool) async throws {
    let chat = try await Chat()
    try await chat.see(lastSeen, left: left)
    try await chat.send()
    #expect(try await situation(chat).hasLeft == hasLeft)
  }

  @Test("a message in whose read_by the recipient stands is read")
  func read() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.send("'x'", ["read_by": "'{\(chat.sender),\(chat.readers[1])}'"])
    let recipients = try #require(try await claim(chat.database).first).recipients
    #expect(recipients.filter(\.situation.hasRead).map(\.userID) == [chat.readers[1]])
  }

  @Test("the newest other message, when read, tells how long ago that was")
  func otherRead() async throws {
    let chat = try await Chat()
    let read = ["read_by": "'{\(chat.reader)}'"]
    let old = ["created_at": "now() - interval '2 h'", "updated_at": "now() - interval '90 s'"]
    try await chat.send("'first'", read.merging(old) { $1 })
    try await chat.database.sql("delete from tacet.inbox")
    try await chat.send()
    let age = try #require(try await situation(chat).newestOtherReadAge)
    #expect((.seconds(90)...(.seconds(90) + patience)).contains(age))
  }

  @Test("an older message that was read says nothing when the newest other one was not")
  func otherUnread() async throws {
    let chat = try await Chat()
    try await chat.send("'first'", ["read_by": "'{\(chat.reader)}'", "created_at": "now() - interval '2 h'"])
    try await chat.send("'second'", ["created_at": "now() - interval '1 h'"])
    try await chat.database.sql("delete from tacet.inbox")
    try await chat.send()
    #expect(try await situation(chat).newestOtherReadAge == nil)
  }

  @Test("the badge counts what others wrote and the recipient has not read, in every conversation of theirs")
  func badge() async throws {
    let chat = try await Chat()
    let other = try await Chat(in: chat.database)
    try await chat.database.sql("insert into conversation_participants values ('\(other.id)', '\(chat.reader)')")
    try await chat.send("'read'", ["read_by": "'{\(chat.reader)}'"])
    try await chat.send("'mine'", from: chat.reader)
    for _ in 0..<3 { try await other.send() }
    try await chat.database.sql("delete from tacet.inbox")
    try await chat.register("a1")
    try await chat.send()
    #expect(try await recipient(chat).badge == 4)
  }

  @Test("devices are those that APNs serves and that are alive, with the environment they told")
  func devices() async throws {
    let chat = try await Chat()
    try await chat.register("a1", ["platform": "'ios'"])
    try await chat.register("a2", ["platform": "'iPadOS'", "environment": "'sandbox'"])
    try await chat.register("a3", ["platform": "'macos'", "environment": "'production'"])
    try await chat.register("a4", ["platform": "'android'"])
    try await chat.register("a5", ["platform": "'web'"])
    try await chat.register("a6", ["invalidated_at": "now()"])
    try await chat.register("a7", of: chat.sender)
    try await chat.send()
    let recipient = try await recipient(chat)
    let expected = [
      PushTarget(address: "a1", environment: nil), PushTarget(address: "a2", environment: "sandbox"),
      PushTarget(address: "a3", environment: "production"),
    ]
    #expect(recipient.targets.sorted { $0.address < $1.address } == expected)
    #expect(recipient.situation.deviceCount == 3)
  }

  @Test(
    "text is there as it is, cut after 4096 characters",
    arguments: [
      ("null", ""), ("''", ""), ("repeat('ä', 4096)", String(repeating: "ä", count: 4096)),
      ("repeat('ä', 4097)", String(repeating: "ä", count: 4096)),
    ])
  func text(_ expression: String, _ text: String) async throws {
    let chat = try await Chat()
    try await chat.send(expression)
    #expect(try await claim(chat.database).first?.message?.text == text)
  }

  @Test("a sender without a name has none")
  func unnamedSender() async throws {
    let chat = try await Chat()
    try await chat.send(from: chat.reader)
    let event = try #require(try await claim(chat.database).first)
    #expect(event.message?.senderName == nil)
    #expect(event.recipients.map(\.userID) == [chat.sender])
  }

  @Test("a message without a sender goes to everybody")
  func noSender() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      alter table messages alter column from_id drop not null;
      insert into messages (conversation_id) values ('\(chat.id)')
      """)
    let event = try #require(try await claim(chat.database).first)
    #expect(Set(event.recipients.map(\.userID)) == [chat.sender, chat.reader])
  }

  @Test("an event of a sender alone comes without recipients")
  func alone() async throws {
    let chat = try await Chat(readers: 0)
    try await chat.send()
    let event = try #require(try await claim(chat.database).first)
    #expect(event.message != nil)
    #expect(event.recipients == [])
  }

  @Test("an event whose message was deleted comes without message and recipients")
  func deleted() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql("delete from messages")
    let event = try #require(try await claim(chat.database).first)
    #expect(event.subject == .message(message))
    #expect(event.message == nil)
    #expect(event.recipients == [])
  }

  @Test("recipients who stand in the ledger are left out", arguments: ["sent", "held", "skipped", "failed"])
  func recorded(_ decision: String) async throws {
    let chat = try await Chat(readers: 2)
    let message = try await chat.send()
    try await chat.database.sql(
      """
      insert into tacet.push_log (user_id, subject_id, push_type, decision) values
        ('\(chat.readers[0])', '\(message)', 'message', '\(decision)'),
        ('\(chat.readers[1])', '\(message)', 'other_kind', '\(decision)'),
        ('\(chat.readers[1])', gen_random_uuid(), 'message', '\(decision)')
      """)
    let event = try #require(try await claim(chat.database).first)
    #expect(event.recipients.map(\.userID) == [chat.readers[1]])
  }

  private func recipient(_ chat: Chat) async throws -> PushRecipient {
    let events = try await claim(chat.database)
    #expect(events.count == 1)
    return try #require(events.first?.recipients.first)
  }

  private func situation(_ chat: Chat) async throws -> RecipientSituation {
    try await recipient(chat).situation
  }
}

@Suite("The order of claims")
struct ClaimOrderTests {
  @Test("the newest events are claimed first, whatever their number")
  func newestFirst() async throws {
    let chats = try await Self.chats(5)
    var messages: [HostID] = []
    for chat in chats { messages.append(try await chat.send()) }
    var claimed: [HostID] = []
    for _ in messages { claimed += try await claim(chats[0].database, eventsMax: 1).map(\.subject.id) }
    #expect(claimed == messages.reversed())
  }

  @Test("conversations take turns: a flooded one does not keep the others waiting")
  func turns() async throws {
    let chats = try await Self.chats(3)
    let quiet = [try await chats[0].send(), try await chats[1].send()]
    var flood: [HostID] = []
    for _ in 0..<10 { flood.append(try await chats[2].send()) }
    let first = try await claim(chats[0].database, eventsMax: 3).map(\.subject.id)
    #expect(Set(first) == Set(quiet + flood.suffix(1)))
    let second = try await claim(chats[0].database, eventsMax: 3).map(\.subject.id)
    #expect(second == Array(flood[6...8]))
  }

  @Test("an event that came by a webhook belongs to no conversation and waits for none")
  func withoutConversation() async throws {
    let chat = try await Chat()
    for _ in 0..<4 { try await chat.send() }
    try await chat.database.sql("update tacet.inbox set conversation_id = null")
    #expect(try await claim(chat.database, eventsMax: 4).count == 4)
  }

  @Test("fresh events come before rescued ones, and both are claimed at once")
  func rescuedAfterFresh() async throws {
    let chat = try await Chat()
    let lost = try await chat.send()
    _ = try await claim(chat.database, lease: .zero)
    let fresh = try await chat.send()
    #expect(try await claim(chat.database, eventsMax: 1).map(\.subject.id) == [lost, fresh])
  }

  @Test("what was claimed three times without a record is claimed one at a time")
  func suspects() async throws {
    let chat = try await Chat()
    for _ in 0..<3 { try await chat.send() }
    for round in 1...3 {
      #expect(try await claim(chat.database, lease: .zero).map(\.attempts) == [round, round, round])
    }
    #expect(try await claim(chat.database, lease: .zero).map(\.attempts) == [4])
    #expect(try await chat.database.sql("select rescues from tacet.inbox order by rescues") == "2\n2\n3")
  }

  @Test("the same holds for deliveries")
  func suspectDeliveries() async throws {
    let chat = try await Chat(readers: 3)
    try await chat.decide { RecipientOutcome(userID: $0, decision: .held, due: .zero, remaining: .held) }
    for round in 2...4 {
      #expect(try await claim(chat.database, lease: .zero).map(\.attempts) == [round, round, round])
    }
    #expect(try await claim(chat.database, lease: .zero).map(\.attempts) == [5])
  }

  @Test(
    "a lease doubles from the third claim on, up to thirty-two times",
    arguments: [
      (false, 0, 60), (true, 0, 60), (true, 1, 120), (true, 2, 240), (true, 4, 960), (true, 5, 1920),
    ])
  func leases(_ isClaimed: Bool, _ rescues: Int, _ seconds: Int) async throws {
    let chat = try await Chat()
    try await chat.send()
    try await chat.database.sql("update tacet.inbox set is_claimed = \(isClaimed), rescues = \(rescues)")
    let events = try await claim(chat.database, lease: .seconds(60))
    let claimedAt = try #require(events.first).claimedAt
    let end = try await chat.database.sql(
      "select (extract(epoch from available_at) * 1000000)::bigint from tacet.inbox")
    // The lease begins with the transaction, a moment before what the claim sees.
    let lease = try #require(Int64(end)) - claimedAt
    #expect(lease <= Int64(seconds) * 1_000_000 && lease > Int64(seconds) * 1_000_000 - 30_000_000)
  }

  @Test("what was rescued too often is claimed no more, parked, and put back by a replay", arguments: [5, 6])
  func exhausted(_ rescues: Int) async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql("update tacet.inbox set is_claimed = true, rescues = \(rescues)")
    let parked = try await withStore(chat.database) { store, reactor in
      try await store.parkExhausted(rescuesMax: 6, rowsMax: 10, on: reactor)
    }
    #expect(parked == (rescues < 6 ? 0 : 1))
    #expect(try await claim(chat.database).count == (rescues < 6 ? 1 : 0))
    guard rescues == 6 else { return }
    #expect(
      try await chat.database.sql("select attempts, user_id, reason from tacet.parked")
        == "0||claimed too often without a record")
    #expect(try await chat.database.sql("select tacet.replay('\(message)'), tacet.replay('\(message)')") == "1|0")
    #expect(try await claim(chat.database).map(\.subject.id) == [message])
  }

  @Test("deliveries that wait for a lane are claimed for lanes that take pushes, the newest first")
  func lanes() async throws {
    let chat = try await Chat()
    var messages: [HostID] = []
    for lane in ["production", "sandbox", "production", "production"] {
      messages.append(try await chat.send())
      try await chat.record(try await claim(chat.database)) {
        var outcome = RecipientOutcome(userID: $0, decision: .held, due: .zero, remaining: .waiting)
        outcome.lane = lane
        return outcome
      }
    }
    try await withStore(chat.database) { [messages] store, reactor in
      var limits = ClaimLimits(eventsMax: 9, deliveriesMax: 9, lease: .seconds(60))
      #expect(try await store.claim(limits, on: reactor).isEmpty)
      #expect(try await store.timeUntilNextDue(on: reactor) == nil)
      limits.lanes = ["production": 2]
      let first = try await store.claim(limits, on: reactor).map(\.subject.id)
      #expect(first == [messages[3], messages[2]])
      limits.lanes = ["production": 9, "sandbox": 9]
      let second = try await store.claim(limits, on: reactor).map(\.subject.id)
      #expect(second == [messages[1], messages[0]])
    }
  }

  @Test("two kinds of event of one row and moment are two events, each with all its recipients")
  func kindsOfOneRow() async throws {
    let scene = try await WatchScene.tasks()
    try await scene.watch(kind: "task_noted")
    // Enough rows in no order, so that a sort leaves those that it takes for equal in no order either.
    try await scene.database.sql(
      """
      update lists set member_ids = array(select gen_random_uuid() from generate_series(1, 10));
      insert into tasks (list_id, by_id, note) select '\(scene.list)', '\(scene.actor)', 'a' from generate_series(1, 20);
      update tacet.inbox set enqueued_at = now()
      """)
    let claimed = try await claim(scene.database)
    #expect(claimed.count == 40)
    #expect(Set(claimed.map(\.subject)).count == 40)
    #expect(claimed.allSatisfy { $0.recipients.count == 10 })
  }

  /// Conversations in one database.
  private static func chats(_ count: Int) async throws -> [Chat] {
    let database = try await TestDatabase.migrated()
    var chats: [Chat] = []
    for _ in 0..<count { chats.append(try await Chat(in: database)) }
    return chats
  }
}
