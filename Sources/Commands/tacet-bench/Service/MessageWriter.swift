import FoundationEssentials
import Postgres
import Reactors

/// Inserts messages like the host, and records the times.
final class MessageWriter {
  /// In the order of the requests.
  private(set) var messages: [SentMessage] = []

  private let conversations: [BenchConversation]
  private let turns: Int
  private let sessions: HostSessions
  private var underWay = 0
  private(set) var failure: PostgresError?
  private let drained = Signal()

  /// - Parameter turns: the number of conversations, from the first, that take turns.
  init(into conversations: [BenchConversation], turns: Int, over sessions: HostSessions) {
    self.conversations = conversations
    self.turns = turns
    self.sessions = sessions
  }

  /// Inserts one message as soon as a connection is free.
  /// - Parameters:
  ///   - conversation: its index; nil for the next in turn.
  ///   - intended: when it was due, in monotonic nanoseconds.
  /// - Returns: the message's number.
  @discardableResult
  func insertSoon(into conversation: Int? = nil, intended: UInt64, on reactor: isolated Reactor) -> Int {
    let numbers = appending(1, into: conversation, intended: intended)
    insertSoon(numbers, on: reactor)
    return numbers.lowerBound
  }

  /// Inserts messages in one statement as soon as a connection is free.
  func insertTogether(_ count: Int, on reactor: isolated Reactor) {
    insertSoon(appending(count, into: nil, intended: Reactor.now), on: reactor)
  }

  /// Waits for all commits.
  /// - Throws: when the database refused a statement. Its messages have no time of commit.
  func drain(on reactor: isolated Reactor) async throws(PostgresError) {
    while underWay > 0 { _ = await drained.wait(on: reactor) }
    if let failure { throw failure }
  }

  var expectedPushes: Int { messages.reduce(0) { $0 + conversations[$1.conversation].devices.count } }

  private func appending(_ count: Int, into conversation: Int?, intended: UInt64) -> Range<Int> {
    let first = messages.count
    for number in first..<(first + count) {
      messages.append(
        SentMessage(id: UUID(), conversation: conversation ?? number % turns, intended: intended))
    }
    return first..<messages.count
  }

  private func insertSoon(_ numbers: Range<Int>, on reactor: isolated Reactor) {
    underWay += 1
    reactor.start {
      await self.insert(numbers, on: reactor)
      self.underWay -= 1
      if self.underWay == 0 { self.drained.signal(on: reactor) }
    }
  }

  private func insert(_ numbers: Range<Int>, on reactor: isolated Reactor) async {
    let connection = await sessions.take(on: reactor)
    defer { sessions.giveBack(connection, on: reactor) }
    update(numbers) { $0.sent = Reactor.now }
    do throws(PostgresError) {
      try await run(numbers, over: connection, on: reactor)
      let now = Reactor.now
      update(numbers) { $0.committed = now }
    } catch {
      failure = error
    }
  }

  private func update(_ numbers: Range<Int>, _ change: (inout SentMessage) -> Void) {
    for number in numbers { change(&messages[number]) }
  }

  private func run(
    _ numbers: Range<Int>, over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    if numbers.count == 1 {
      let message = messages[numbers.lowerBound]
      let place = conversations[message.conversation]
      try await connection.query(
        .insertMessage, [message.id, place.id, place.sender, PostgresStatement.messageText], on: reactor)
    } else {
      // A copy, because a slice would make the next write copy all messages.
      let batch = Array(messages[numbers])
      let places = batch.map { conversations[$0.conversation] }
      try await connection.query(
        .insertMessages, [batch.map(\.id), places.map(\.id), places.map(\.sender), PostgresStatement.messageText],
        on: reactor)
    }
  }
}

extension PostgresStatement {
  /// 40 characters, an ordinary message.
  static let messageText = "Are you coming to the rehearsal tonight?"

  /// One message, as hosts insert them.
  static let insertMessage = PostgresStatement(
    "bench_insert_message",
    "insert into public.messages (id, conversation_id, from_id, text) values ($1, $2, $3, $4)",
    [.uuid, .uuid, .uuid, .text])

  /// Messages in one statement, with one text.
  static let insertMessages = PostgresStatement(
    "bench_insert_messages",
    """
    insert into public.messages (id, conversation_id, from_id, text)
    select m.id, m.conversation_id, m.from_id, $4 from unnest($1, $2, $3) as m (id, conversation_id, from_id)
    """,
    [.array(of: .uuid), .array(of: .uuid), .array(of: .uuid), .text])
}

/// A message of the load. Times are monotonic nanoseconds.
struct SentMessage: Sendable, Equatable {
  let id: UUID
  /// The index of its conversation.
  let conversation: Int
  let intended: UInt64
  var sent: UInt64 = 0
  /// When the response to the commit was read; 0 without one.
  var committed: UInt64 = 0
}
