import FoundationEssentials
import Postgres
import Reactors

/// Inserts messages as the host does, and notes when.
final class MessageWriter {
  /// In the order in which they were asked for.
  private(set) var messages: [SentMessage] = []
  /// Told of each commit when its answer has been read.
  var observer: (any CommitObserver)?

  private let conversations: [BenchConversation]
  private let turns: Int
  private let sessions: HostSessions
  private var underWay = 0
  private(set) var failure: PostgresError?
  private let drained = Signal()

  /// - Parameter turns: how many of the conversations, from the first, take turns.
  init(into conversations: [BenchConversation], turns: Int, over sessions: HostSessions) {
    self.conversations = conversations
    self.turns = turns
    self.sessions = sessions
  }

  /// Inserts one message as soon as a connection is free.
  /// - Parameters:
  ///   - conversation: its place among the conversations; they take turns when it is nil.
  ///   - intended: when that was to be, in monotonic nanoseconds.
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

  /// Waits until everything asked for is committed.
  /// - Throws: when the database refused something; its messages have no moment of commit.
  func drain(on reactor: isolated Reactor) async throws(PostgresError) {
    while underWay > 0 { _ = await drained.wait(on: reactor) }
    if let failure { throw failure }
  }

  /// How many pushes all messages together make.
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
    note(numbers) { $0.sent = Reactor.now }
    do throws(PostgresError) {
      try await run(numbers, over: connection, on: reactor)
      let now = Reactor.now
      note(numbers) { $0.committed = now }
      for number in numbers { observer?.committed(messages[number].id, on: reactor) }
    } catch {
      failure = error
    }
  }

  private func note(_ numbers: Range<Int>, _ change: (inout SentMessage) -> Void) {
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
      // Copied: a slice that is held while others write would have them copy all messages.
      let batch = Array(messages[numbers])
      let places = batch.map { conversations[$0.conversation] }
      try await connection.query(
        .insertMessages, [batch.map(\.id), places.map(\.id), places.map(\.sender), PostgresStatement.messageText],
        on: reactor)
    }
  }
}

/// Told of commits, on the reactor of the load.
protocol CommitObserver: AnyObject {
  /// A message is committed, and the answer has been read.
  func committed(_ message: UUID, on reactor: isolated Reactor)
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

/// A message that the load has inserted. Moments are monotonic nanoseconds.
struct SentMessage: Sendable, Equatable {
  let id: UUID
  /// Its conversation's place in the scene.
  let conversation: Int
  /// When it was to be inserted.
  let intended: UInt64
  /// When the insert went out.
  var sent: UInt64 = 0
  /// When the answer to the commit was read; 0 when there was none.
  var committed: UInt64 = 0
}
