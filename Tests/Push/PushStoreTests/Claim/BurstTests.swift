import FoundationEssentials
import Postgres
import Reactors
import TestIDs
import TestRandomness
import Testing

@testable import PushRules
@testable import PushStore

@Suite("Bursts in the database", .uuidsOnly)
struct BurstTests {
  private static let policy = FoldPolicy(window: .seconds(20))

  @Test("decides every step of random bursts as the rules do", arguments: 0..<20)
  func equivalence(seed: Int) async throws {
    let chat = try await Chat()
    try await chat.database.sql("update profiles set name = 'Bob' where id = '\(chat.reader)'")
    let script = BurstScript(chat, seed: UInt64(seed))
    try await chat.database.sql(script.preparation)
    try await onConnection(to: chat.database) { connection, reactor in
      var burst: MessageBurst?
      for step in script.steps {
        try await connection.simple(script.setting(step), on: reactor)
        let decision = Self.policy.decide(
          script.message(step.message), at: step.now, isMentioned: step.message.isMultiple(of: 7),
          lookedAt: step.lookedAt, latest: step.state(of: burst, in: script), of: &burst)
        let asked = PostgresStatement("ask_\(step.number)", script.asking(step))
        let row = try await connection.query(asked, on: reactor).one()
        #expect(try row.decode("verdict") == decision.verdict, "\(step)")
        #expect(try row.decode("due_us") == decision.due, "\(step)")
        #expect(try row.decode("more") == Int32(burst?.more ?? 0), "\(step)")
      }
    }
  }

  @Test("of two processes that ask at the same time one gets the sound, and neither waits for the other for ever")
  func race() async throws {
    let chat = try await Chat(readers: 2)
    let other = try await Chat(readers: 0, in: chat.database)
    let ids = try await [chat.send(), chat.send()]
    let users = chat.readers
    @Sendable func asking(_ message: HostID, _ users: [HostID], _ rooms: [HostID]) -> String {
      let list = { (ids: [HostID]) in "array[" + ids.map { "'\($0)'" }.joined(separator: ",") + "]::uuid[]" }
      let numbers = users.map { _ in "0" }.joined(separator: ",")
      return """
        select string_agg(verdict, ',' order by place) from tacet.fold_messages(
          \(list(users.map { _ in message })), \(list(users)), \(list(rooms)), '{\(numbers)}',
          array_fill(null::bigint, array[\(users.count)]), '{\(users.map { _ in "1" }.joined(separator: ","))}',
          20000000, 1000000)
        """
    }
    try await withSessions(chat.database, 3) { sessions, reactor in
      try await sessions[0].run("begin", on: reactor)
      let first = try await sessions[0].value(
        "(\(asking(ids[0], [users[1], users[0]], [chat.id, other.id])))", on: reactor)
      #expect(first == "sound,sound")
      let second = Begun.begin(on: reactor) {
        try await sessions[1].value("(\(asking(ids[1], [users[0], users[1]], [other.id, chat.id])))", on: reactor)
      }
      try await sessions[2].awaitBlocked(sessions[1], on: reactor)
      try await sessions[0].run("commit", on: reactor)
      #expect(try await second.value(on: reactor) == "wait,wait")
    }
  }

  @Test("of one statement the oldest message of a conversation sounds, wherever it stands")
  func together() async throws {
    let chat = try await Chat()
    for _ in 0..<3 { _ = try await chat.send() }
    let events = try await claim(chat.database)
    try await withStore(chat.database) { store, reactor in
      let messages = events.reversed().flatMap { event in
        event.recipients.compactMap { FoldableMessage(event, to: $0) }
      }
      let folded = try await store.fold(messages, by: Self.policy, on: reactor)
      #expect(folded.map { $0.decision == .sound } == [false, false, true])
      #expect(folded.map(\.more).sorted() == [0, 1, 2])
      #expect(Set(folded.map(\.first)) == [events[0].subject])
    }
  }

  @Test("a burst of 40 messages is one row, and no index has what changes in it")
  func oneRow() async throws {
    let chat = try await Chat()
    for _ in 0..<40 { _ = try await chat.send() }
    let events = try await claim(chat.database)
    try await withStore(chat.database) { store, reactor in
      for event in events {
        let messages = event.recipients.compactMap { FoldableMessage(event, to: $0) }
        _ = try await store.fold(messages, by: Self.policy, on: reactor)
      }
    }
    #expect(try await chat.database.sql("select cardinality(members) from tacet.bursts") == "40")
    let indexes = "select string_agg(indkey::text, ';') from pg_index where indrelid = 'tacet.bursts'::regclass"
    let keys =
      "select string_agg(attnum::text, ' ' order by attnum) from pg_attribute"
      + " where attrelid = 'tacet.bursts'::regclass and attname in ('user_id', 'surface_id')"
    #expect(try await chat.database.sql(indexes) == chat.database.sql(keys))
  }

  @Test("a message without a conversation and other kinds do not fold")
  func others() async throws {
    let chat = try await Chat()
    let message = try await chat.send()
    try await chat.database.sql("delete from messages where id = '\(message)'")
    for event in try await claim(chat.database) {
      #expect(event.recipients.allSatisfy { FoldableMessage(event, to: $0) == nil })
    }
  }
}

/// A random burst, told to the database and to the rules alike. Times are microseconds since 1970.
private struct BurstScript {
  struct Step {
    let number: Int
    let message: Int
    let now: Int64
    let lookedAt: Int64?
    let attempts: Int
    /// What the ledger gets to say of the push that was handed over last.
    let record: HandedOverPush

    func state(of burst: MessageBurst?, in script: BurstScript) -> HandedOverPush { burst == nil ? .inFlight : record }
  }

  private static let start: Int64 = 1_700_000_000_000_000
  let chat: Chat
  let ids: [HostID]
  let steps: [Step]

  init(_ chat: Chat, seed: UInt64) {
    self.chat = chat
    var generator = SeededGenerator(seed: seed)
    var ids: [HostID] = []
    for _ in 0..<12 { ids.append(HostID.new()) }
    self.ids = ids
    var now = Self.start + 12_000_000
    steps = (0..<60).map { number in
      now += [0, 200_000, 1_000_000, 3_000_000, 19_000_000].randomElement(using: &generator) ?? 0
      return Step(
        number: number, message: min(11, max(0, number / 5 + Int.random(in: -2...2, using: &generator))), now: now,
        lookedAt: Int.random(in: 0..<8, using: &generator) == 0 ? now : nil, attempts: number + 1,
        record: HandedOverPush.allCases.randomElement(using: &generator) ?? .sent)
    }
  }

  func message(_ number: Int) -> BurstMessage {
    BurstMessage(enqueuedAt: Self.start + Int64(number) * 1_000_000, id: ids[number].text)
  }

  var preparation: String {
    ids.enumerated().map { number, id in
      chat.insertion(of: id, number.isMultiple(of: 7) ? "'Hello @bob'" : "'Hello'") + ";"
    }.joined()
  }

  /// The ledger before a step.
  func setting(_ step: Step) -> String {
    let decision = [HandedOverPush.sent: "sent", .waits: "held", .gone: "failed"][step.record]
    guard let decision else { return "delete from tacet.push_log" }
    return """
      delete from tacet.push_log;
      insert into tacet.push_log (subject_id, push_type, user_id, decision, attempts)
      select b.latest_subject, 'message', b.user_id, '\(decision)', b.latest_attempts from tacet.bursts b
      """
  }

  func asking(_ step: Step) -> String {
    let asked = message(step.message)
    return """
      select f.verdict, f.more, f.due_us from tacet.fold_messages(
        array['\(asked.id)']::uuid[], array['\(chat.reader)']::uuid[], array['\(chat.id)']::uuid[],
        '{\(asked.enqueuedAt)}', '{\(step.lookedAt.map { "\($0)" } ?? "null")}', '{\(step.attempts)}', 20000000, 1000000,
        timestamptz 'epoch' + \(step.now) * interval '1 microsecond') f
      """
  }
}

extension FoldDecision {
  fileprivate var verdict: String {
    switch self {
    case .sound: "sound"
    case .update: "update"
    case .wait: "wait"
    case .fold: "fold"
    }
  }

  fileprivate var due: Int64? { if case .wait(let time) = self { time } else { nil } }
}
