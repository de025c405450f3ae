import FoundationEssentials
import Postgres
import Reactors

/// Inserts messages when they are due, whatever becomes of those before them: an open loop.
final class MessageLoad {
  private static let insert = PostgresStatement(
    "bench_insert_message",
    "insert into public.messages (id, conversation_id, from_id, text) values ($1, $2, $3, $4)",
    [.uuid, .uuid, .uuid, .text])

  private static let text = "Are you coming to the rehearsal tonight?"

  /// In the order of their arrival.
  private(set) var messages: [SentMessage] = []
  private let conversations: [BenchConversation]
  private let sessions: HostSessions
  private var underWay = 0
  private var failure: PostgresError?
  private var hasDispatchedAll = false
  private let end = Signal()

  init(into conversations: [BenchConversation], over sessions: HostSessions) {
    self.conversations = conversations
    self.sessions = sessions
  }

  /// Connections that know the load's statement.
  static func openSessions(
    _ count: Int, to conninfo: String, on reactor: isolated Reactor
  ) async throws -> HostSessions {
    try await HostSessions.open(count, to: conninfo, preparing: insert, on: reactor)
  }

  /// Inserts by the schedule, and waits until everything is committed.
  /// - Parameter atFirstCounted: called when the first message that counts is due.
  func run(
    _ schedule: ArrivalSchedule, atFirstCounted: @escaping () -> Void, on reactor: isolated Reactor
  ) async throws {
    messages.reserveCapacity(schedule.count)
    let bound = ReactorBound((self, atFirstCounted), on: reactor)
    let metronome = try Metronome.start(schedule) {
      bound.submit { $0.0.dispatchDue(schedule, $0.1, on: $1) }
    }
    _ = await end.wait(on: reactor)
    metronome.stop()
    if let failure { throw failure }
  }

  private func dispatchDue(_ schedule: ArrivalSchedule, _ atFirstCounted: () -> Void, on reactor: isolated Reactor) {
    guard failure == nil else { return }
    let due = schedule.dueCount(at: Reactor.now)
    while messages.count < due {
      if messages.count == schedule.warmUp { atFirstCounted() }
      dispatch(intended: schedule.due(messages.count), on: reactor)
    }
    hasDispatchedAll = messages.count == schedule.count
    endIfDone(on: reactor)
  }

  private func dispatch(intended: UInt64, on reactor: isolated Reactor) {
    let number = messages.count
    messages.append(SentMessage(id: UUID(), conversation: number % conversations.count, intended: intended))
    underWay += 1
    reactor.start { await self.insert(number, on: reactor) }
  }

  private func insert(_ number: Int, on reactor: isolated Reactor) async {
    let connection = await sessions.take(on: reactor)
    let message = messages[number]
    let conversation = conversations[message.conversation]
    messages[number].sent = Reactor.now
    do throws(PostgresError) {
      try await connection.query(
        Self.insert, [message.id, conversation.id, conversation.sender, Self.text], on: reactor)
      messages[number].committed = Reactor.now
    } catch {
      failure = error
    }
    sessions.giveBack(connection, on: reactor)
    underWay -= 1
    endIfDone(on: reactor)
  }

  private func endIfDone(on reactor: isolated Reactor) {
    if underWay == 0, hasDispatchedAll || failure != nil { end.signal(on: reactor) }
  }
}
