import DequeModule
import FoundationEssentials
import Logging
import Postgres
import Reactors

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
