import FoundationEssentials
import Postgres
import Reactors

/// Conversations of one sender and any number of recipients, each with one device, of whom nobody is looking.
enum FanOutScene {
  /// Makes what is missing of it, and reads it.
  /// - Parameter control: a session of the tables' owner.
  static func prepare(
    recipients: Int, _ control: PostgresConnection, on reactor: isolated Reactor
  ) async throws -> BenchConversation {
    var added = 0
    for statement in [addPeople, addConversation, addParticipants, addTokens] {
      added += try await control.query(statement, [recipients], on: reactor).affectedCount
    }
    try await control.query(forgetPresence, [recipients], on: reactor)
    if added > 0 {
      try await control.simple(
        "analyze public.profiles, public.conversation_participants, public.push_tokens", on: reactor)
    }
    let row = try await control.query(read, [recipients], on: reactor).one()
    let tokens: [String] = try row.decode("tokens")
    let devices = Set(tokens.compactMap { DeviceKey(token: $0) })
    guard devices.count == recipients else { throw BenchError("\(devices.count) devices of \(recipients) recipients") }
    return try BenchConversation(id: row.decode("conversation_id"), sender: row.decode("sender_id"), devices: devices)
  }

  // Ids that can be computed again: number 0 is the sender.
  private static let conversation = "md5('bench fan-out ' || $1)::uuid"
  private static let person = "md5('bench fan-out ' || $1 || ' ' || k)::uuid"

  private static let addPeople = PostgresStatement(
    "bench_add_fan_out_people",
    """
    insert into public.profiles (id, name) select \(person), 'Person ' || k from generate_series(0, $1) k
    on conflict do nothing
    """, [.int4])

  private static let addConversation = PostgresStatement(
    "bench_add_fan_out_conversation",
    "insert into public.conversations (id) select \(conversation) on conflict do nothing", [.int4])

  private static let addParticipants = PostgresStatement(
    "bench_add_fan_out_participants",
    """
    insert into public.conversation_participants (conversation_id, user_id)
    select \(conversation), \(person) from generate_series(0, $1) k
    on conflict do nothing
    """, [.int4])

  private static let addTokens = PostgresStatement(
    "bench_add_fan_out_tokens",
    """
    insert into public.push_tokens (user_id, device_token)
    select \(person), encode(sha256(convert_to('bench fan-out ' || $1 || ' ' || k, 'UTF8')), 'hex')
    from generate_series(1, $1) k
    on conflict do nothing
    """, [.int4])

  private static let forgetPresence = PostgresStatement(
    "bench_forget_fan_out_presence",
    """
    update public.conversation_participants c set last_seen = null, left_at = null
    where c.conversation_id = \(conversation) and (c.last_seen is not null or c.left_at is not null)
    """, [.int4])

  private static let read = PostgresStatement(
    "bench_read_fan_out",
    """
    select c.conversation_id, s.id as sender_id, array_agg(t.device_token) as tokens
    from public.conversation_participants c
    cross join (select \(person) as id from (values (0)) zero (k)) s
    join public.push_tokens t on t.user_id = c.user_id and t.invalidated_at is null
    where c.conversation_id = \(conversation) and c.user_id <> s.id
    group by c.conversation_id, s.id
    """, [.int4])
}
