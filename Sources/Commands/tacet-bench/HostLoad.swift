import FoundationEssentials
import Glibc
import Logging
import Postgres
import Reactors

struct BenchConversation: Sendable, Equatable {
  let id: UUID
  let sender: UUID
  /// The devices of all other participants.
  let devices: Set<DeviceKey>
}

/// The measured conversations, which `deploy/lib/bench/measure.sql` makes. Each recipient has one device, and nobody is
/// looking.
enum HostScene {
  /// - Parameter control: a session of the tables' owner.
  static func picked(_ control: PostgresConnection, on reactor: isolated Reactor) async throws -> [BenchConversation] {
    let conversations = try await control.query(readConversations, on: reactor).map { try conversation($0) }
    guard !conversations.isEmpty else { throw BenchError("measure.conversations is empty") }
    return conversations
  }

  /// A conversation of one sender and this many recipients.
  static func group(
    of recipients: Int, _ control: PostgresConnection, on reactor: isolated Reactor
  ) async throws -> BenchConversation {
    let row = try await control.query(makeGroup, [Int32(recipients)], on: reactor).one()
    try await control.simple(
      "analyze public.profiles, public.conversation_participants, public.push_tokens", on: reactor)
    return try conversation(row)
  }

  private static func conversation(_ row: PostgresRow) throws -> BenchConversation {
    let tokens: [String] = try row.decode("tokens")
    return try BenchConversation(
      id: row.decode("conversation_id"), sender: row.decode("sender_id"),
      devices: Set(tokens.compactMap { DeviceKey(token: $0) }))
  }

  private static let makeGroup = PostgresStatement(
    "bench_make_group", "select conversation_id, sender_id, tokens from measure.make_group($1)", [.int4])

  private static let readConversations = PostgresStatement(
    "bench_read_conversations",
    """
    select p.conversation_id, p.sender_id, array_agg(t.device_token) as tokens
    from measure.conversations p
    join public.conversation_participants c using (conversation_id)
    join public.push_tokens t on t.user_id = c.user_id
    where c.user_id <> p.sender_id
    group by p.n, p.conversation_id, p.sender_id
    order by p.n
    """)
}

extension PostgresPool {
  /// Opens the host's connections.
  static func host(
    _ conninfo: String, connections: Int, on reactor: isolated Reactor
  ) async throws -> PostgresPool {
    let pool = PostgresPool(
      .bench(conninfo, application: "host"), size: connections, opensOnDemand: true, logger: Logger(label: "host"))
    pool.start(on: reactor)
    let deadline = Reactor.now + Duration.seconds(10).clampedNanoseconds
    while pool.openCount < connections {
      guard Reactor.now < deadline else {
        await pool.close(on: reactor)
        throw BenchError("the host could not connect: \(pool.failure.map { "\($0)" } ?? "no reason")")
      }
      await reactor.sleep(for: .milliseconds(5))
    }
    return pool
  }
}

extension PostgresConfiguration {
  /// Sessions of the measuring side, without a limit for statements: those that fill tables take minutes.
  static func bench(_ conninfo: String, application: String) -> PostgresConfiguration {
    var configuration = PostgresConfiguration(conninfo: conninfo)
    configuration.applicationName = "tacet-bench \(application)"
    configuration.statementLimit = nil
    configuration.answerLimit = .seconds(120)
    return configuration
  }
}

/// Inserts messages like the host, and records the times.
final class MessageWriter {
  /// In the order of the requests.
  private(set) var messages: [SentMessage] = []

  private let conversations: [BenchConversation]
  private let turns: ConversationTurns
  private let pool: PostgresPool
  private var underWay = 0
  private(set) var failure: PostgresError?
  private let drained = Signal()

  init(into conversations: [BenchConversation], by turns: ConversationTurns, over pool: PostgresPool) {
    self.conversations = conversations
    self.turns = turns
    self.pool = pool
  }

  /// Inserts messages in one statement as soon as a connection is free.
  func insertSoon(_ count: Int = 1, on reactor: isolated Reactor) {
    let numbers = messages.count..<(messages.count + count)
    for number in numbers { messages.append(SentMessage(id: UUID(), conversation: turns.conversation(of: number))) }
    underWay += 1
    reactor.start {
      await self.insert(numbers, on: reactor)
      self.underWay -= 1
      if self.underWay == 0 { self.drained.signal(on: reactor) }
    }
  }

  /// Waits for all commits.
  /// - Throws: when the database refused a statement. Its messages have no time of commit.
  func drain(on reactor: isolated Reactor) async throws(PostgresError) {
    while underWay > 0 { _ = await drained.wait(on: reactor) }
    if let failure { throw failure }
  }

  var expectedPushes: Int { messages.reduce(0) { $0 + conversations[$1.conversation].devices.count } }

  private func insert(_ numbers: Range<Int>, on reactor: isolated Reactor) async {
    update(numbers) { $0.sent = Reactor.now }
    do throws(PostgresError) {
      try await run(numbers, on: reactor)
      let now = Reactor.now
      update(numbers) { $0.committed = now }
    } catch {
      failure = error
    }
  }

  private func update(_ numbers: Range<Int>, _ change: (inout SentMessage) -> Void) {
    for number in numbers { change(&messages[number]) }
  }

  private func run(_ numbers: Range<Int>, on reactor: isolated Reactor) async throws(PostgresError) {
    if numbers.count == 1 {
      let message = messages[numbers.lowerBound]
      let place = conversations[message.conversation]
      try await pool.query(
        .insertMessage, [message.id, place.id, place.sender, PostgresStatement.messageText], on: reactor)
    } else {
      // A copy, because a slice would make the next write copy all messages.
      let batch = Array(messages[numbers])
      let places = batch.map { conversations[$0.conversation] }
      try await pool.query(
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

/// Which conversation a message goes into, by the messages' numbers.
enum ConversationTurns: Sendable, Equatable {
  /// All in turn.
  case even(among: Int)
  /// Half of them in turn. Each of the others gets five messages within a second, and then none until it is their turn again.
  case bursty(among: Int, perSecond: Double)
  /// The one with this index.
  case alone(Int)

  private static let burst = 5

  func conversation(of number: Int) -> Int {
    switch self {
    case .even(let count): return number % count
    case .alone(let conversation): return conversation
    case .bursty(let count, let perSecond):
      let (even, place) = (count - count / 2, number / 2)
      guard number % 2 == 1, even < count else { return place % even }
      let talking = max(1, Int(perSecond / 2) / Self.burst)
      let second = place / (talking * Self.burst)
      return even + (second * talking + place % talking) % (count - even)
    }
  }
}

/// A message of the load. Times are monotonic nanoseconds.
struct SentMessage: Sendable, Equatable {
  let id: UUID
  /// The index of its conversation.
  let conversation: Int
  var sent: UInt64 = 0
  /// When the response to the commit was read; 0 without one.
  var committed: UInt64 = 0
}

/// Inserts messages when they are due, independently of earlier ones.
final class OpenLoop {
  private let writer: MessageWriter
  private let schedule: ArrivalSchedule
  private let atFirstCounted: () -> Void
  private var dispatched = 0
  private let end = Signal()

  /// - Parameter atFirstCounted: called when the first counted message is due.
  init(_ schedule: ArrivalSchedule, through writer: MessageWriter, atFirstCounted: @escaping () -> Void = {}) {
    self.writer = writer
    self.schedule = schedule
    self.atFirstCounted = atFirstCounted
  }

  /// Follows the schedule to its end, and waits for all commits.
  func run(on reactor: isolated Reactor) async throws {
    let (schedule, bound) = (schedule, ReactorBound(self, on: reactor))
    let metronome = try ReactorGroup(count: 1, name: "metronome")
    metronome.reactors[0].submit { _ in schedule.follow { bound.submit { $0.dispatch(on: $1) } } }
    _ = await end.wait(on: reactor)
    await metronome.stop()
    try await writer.drain(on: reactor)
  }

  private func dispatch(on reactor: isolated Reactor) {
    if dispatched == schedule.warmUp { atFirstCounted() }
    if writer.failure == nil { writer.insertSoon(on: reactor) }
    dispatched += 1
    if dispatched == schedule.count { end.signal(on: reactor) }
  }
}

/// The times of messages, evenly spaced by the monotonic clock and independent of earlier messages.
struct ArrivalSchedule: Sendable, Equatable {
  /// When number 0 is due, in monotonic nanoseconds.
  let start: UInt64
  let perSecond: Double
  /// The first messages, which do not count.
  let warmUp: Int
  /// All messages, including the warm-up.
  let count: Int

  /// - Parameter start: soon, so that what follows it is ready in time.
  init(start: UInt64 = Reactor.now + 20_000_000, perSecond: Double, warmUpSeconds: Double, seconds: Double) {
    self.start = start
    self.perSecond = perSecond
    warmUp = Int((perSecond * warmUpSeconds).rounded())
    count = warmUp + max(1, Int((perSecond * seconds).rounded()))
  }

  var counted: Range<Int> { warmUp..<count }

  /// When a message is due, in monotonic nanoseconds.
  func due(_ number: Int) -> UInt64 { start &+ UInt64(Double(number) / perSecond * 1e9) }

  /// From the first counted message to the time of one more after the last, in monotonic nanoseconds.
  var countedSpan: Range<UInt64> { due(warmUp)..<due(count) }

  /// Calls a closure when each message is due, and blocks the thread until then. A reactor's timers have milliseconds only. At
  /// a thousand messages a second that would shift every arrival by half of the interval.
  func follow(_ beat: () -> Void) {
    for number in 0..<count {
      let (seconds, nanoseconds) = due(number).quotientAndRemainder(dividingBy: 1_000_000_000)
      var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
      while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
      beat()
    }
  }
}
