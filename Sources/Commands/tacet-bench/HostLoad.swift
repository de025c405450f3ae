import DequeModule
import FoundationEssentials
import Glibc
import Logging
import Postgres
import Reactors
import Synchronization

struct BenchConversation: Sendable, Equatable {
  let id: UUID
  let sender: UUID
  /// The devices of all other participants.
  let devices: Set<DeviceKey>
}

/// The measured conversations, which `deploy/bench` has picked into the table `measure.conversations`.
enum HostScene {
  /// Ensures that no participant is looking and that each has one device, and reads the conversations.
  /// - Parameter control: a session of the tables' owner.
  static func prepare(_ control: PostgresConnection, on reactor: isolated Reactor) async throws -> [BenchConversation] {
    for statement in [forgetPresence, dropSpareTokens, addTokens] { try await control.query(statement, on: reactor) }
    let conversations = try await control.query(readConversations, on: reactor).map { try conversation($0) }
    guard !conversations.isEmpty else { throw BenchError("measure.conversations is empty") }
    return conversations
  }

  private static func conversation(_ row: PostgresRow) throws -> BenchConversation {
    let tokens: [String] = try row.decode("tokens")
    return try BenchConversation(
      id: row.decode("conversation_id"), sender: row.decode("sender_id"),
      devices: Set(tokens.compactMap { DeviceKey(token: $0) }))
  }

  private static let forgetPresence = PostgresStatement(
    "bench_forget_presence",
    """
    update public.conversation_participants c set last_seen = null, tacet_left_at = null
    from measure.conversations p
    where c.conversation_id = p.conversation_id and (c.last_seen is not null or c.tacet_left_at is not null)
    """)

  private static let dropSpareTokens = PostgresStatement(
    "bench_drop_spare_tokens",
    """
    with taking_part as (
      select distinct c.user_id
      from public.conversation_participants c join measure.conversations p using (conversation_id)
    ), numbered as (
      select t.device_token, row_number() over (partition by t.user_id order by t.device_token) as number
      from public.push_tokens t join taking_part using (user_id)
    )
    delete from public.push_tokens t using numbered n where t.device_token = n.device_token and n.number > 1
    """)

  private static let addTokens = PostgresStatement(
    "bench_add_tokens",
    """
    with taking_part as (
      select distinct c.user_id
      from public.conversation_participants c join measure.conversations p using (conversation_id)
    ), renewed as (
      update public.push_tokens t
      set platform = 'ios', invalidated_at = null, invalidation_reason = null, environment = null, app = null
      from taking_part where t.user_id = taking_part.user_id
        and (t.platform <> 'ios' or t.invalidated_at is not null or t.environment is not null or t.app is not null)
    )
    insert into public.push_tokens (user_id, device_token)
    select u.user_id, encode(sha256(convert_to('bench' || u.user_id, 'UTF8')), 'hex')
    from taking_part u
    where not exists (select from public.push_tokens t where t.user_id = u.user_id)
    """)

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

/// The host's connections to its database, each used by one statement at a time, like a backend's pool.
///
/// Callers wait in order for a free connection. The last used one is taken first.
final class HostSessions {
  private var all: [PostgresConnection] = []
  private var free: [PostgresConnection] = []
  private var waiters = Deque<Turn>()

  /// A waiting caller and its connection.
  private final class Turn {
    let signal = Signal()
    var connection: PostgresConnection?
  }

  /// Connects, and prepares the statements on every connection, so that no measurement includes it.
  static func open(
    _ count: Int, to conninfo: String, preparing statements: [PostgresStatement], on reactor: isolated Reactor
  ) async throws -> HostSessions {
    let sessions = HostSessions()
    for _ in 0..<count {
      let connection = try await PostgresConnection.connect(
        .bench(conninfo, application: "host"), logger: Logger(label: "host"), on: reactor)
      sessions.all.append(connection)
      for statement in statements { try await connection.prepare(statement, on: reactor) }
    }
    sessions.free = sessions.all
    return sessions
  }

  var count: Int { all.count }

  func close(on reactor: isolated Reactor) {
    for connection in all { connection.close(on: reactor) }
  }

  /// A connection for one statement. Return it with ``giveBack(_:on:)``.
  func take(on reactor: isolated Reactor) async -> PostgresConnection {
    if let connection = free.popLast() { return connection }
    let turn = Turn()
    waiters.append(turn)
    _ = await turn.signal.wait(on: reactor)
    guard let connection = turn.connection else { preconditionFailure("a turn without a connection") }
    return connection
  }

  func giveBack(_ connection: PostgresConnection, on reactor: isolated Reactor) {
    guard let turn = waiters.popFirst() else { return free.append(connection) }
    turn.connection = connection
    turn.signal.signal(on: reactor)
  }
}

extension PostgresConfiguration {
  /// Sessions of the measuring side, without a limit for statements: those that fill tables take minutes.
  static func bench(_ conninfo: String, application: String) -> PostgresConfiguration {
    var configuration = PostgresConfiguration(conninfo: conninfo)
    configuration.applicationName = "tacet-bench \(application)"
    configuration.statementLimit = nil
    return configuration
  }
}

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
    let bound = ReactorBound(self, on: reactor)
    let metronome = try Metronome.start(schedule) { bound.submit { $0.dispatchDue(on: $1) } }
    _ = await end.wait(on: reactor)
    metronome.stop()
    try await writer.drain(on: reactor)
  }

  private func dispatchDue(on reactor: isolated Reactor) {
    let due = schedule.dueCount(at: Reactor.now)
    while dispatched < due, writer.failure == nil {
      if dispatched == schedule.warmUp { atFirstCounted() }
      writer.insertSoon(intended: schedule.due(dispatched), on: reactor)
      dispatched += 1
    }
    if dispatched == schedule.count || writer.failure != nil { end.signal(on: reactor) }
  }
}

/// The times of messages, evenly spaced by the monotonic clock and independent of earlier messages.
struct ArrivalSchedule: Sendable, Equatable {
  /// The lead before the first message, so that the metronome is ready in time.
  static let leadNanoseconds: UInt64 = 20_000_000

  /// When number 0 is due, in monotonic nanoseconds.
  let start: UInt64
  let perSecond: Double
  /// The first messages, which do not count.
  let warmUp: Int
  /// All messages, including the warm-up.
  let count: Int

  init(start: UInt64, perSecond: Double, warmUpSeconds: Double, seconds: Double) {
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

  func dueCount(at now: UInt64) -> Int {
    guard now >= start else { return 0 }
    var number = min(count, Int(Double(now - start) / 1e9 * perSecond) + 1)
    // The division may round across an edge, so `due` decides.
    while number > 0, due(number - 1) > now { number -= 1 }
    while number < count, due(number) <= now { number += 1 }
    return number
  }
}

/// Calls a closure at the times of a schedule, from a separate thread. A reactor's timers have milliseconds only. At a
/// thousand messages a second that would shift every arrival by half of the interval.
final class Metronome: Sendable {
  private let schedule: ArrivalSchedule
  private let beat: @Sendable () -> Void
  private let isStopped = Mutex(false)

  private init(_ schedule: ArrivalSchedule, beat: @escaping @Sendable () -> Void) {
    self.schedule = schedule
    self.beat = beat
  }

  /// Starts the thread. Messages that become due during a beat share the next one.
  static func start(_ schedule: ArrivalSchedule, beat: @escaping @Sendable () -> Void) throws(SystemError) -> Metronome
  {
    let metronome = Metronome(schedule, beat: beat)
    var thread = pthread_t()
    // Retained once for the thread, which releases it.
    let argument = Unmanaged.passRetained(metronome)
    let code = pthread_create(&thread, nil, { runMetronome($0) }, argument.toOpaque())
    guard code == 0 else {
      argument.release()
      throw SystemError(operation: "pthread_create", code: code)
    }
    pthread_detach(thread)
    return metronome
  }

  /// Ends the thread after at most one more beat.
  func stop() { isStopped.withLock { $0 = true } }

  fileprivate func run() {
    var number = 0
    while number < schedule.count, !isStopped.withLock({ $0 }) {
      sleep(until: schedule.due(number))
      // Computed before the beat, so that messages that become due meanwhile get the next one.
      number = max(number + 1, schedule.dueCount(at: Reactor.now))
      beat()
    }
  }

  private func sleep(until moment: UInt64) {
    var time = timespec(tv_sec: Int(moment / 1_000_000_000), tv_nsec: Int(moment % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }
}

private func runMetronome(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  // Retained once for this thread by `Metronome.start`; taken over here.
  Unmanaged<Metronome>.fromOpaque(argument).takeRetainedValue().run()
  return nil
}
