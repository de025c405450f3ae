import FoundationEssentials
import Postgres
import Reactors

/// Scenario `fanout-RECIPIENTS`: one message to many, and the next after its last push.
struct FanOutRun {
  let bench: ServiceBench
  let subject: SubjectBench
  let recipients: Int

  /// The counted messages. Five are enough with thousands of pushes each.
  static func repetitions(recipients: Int) -> Int { recipients < 5000 ? 20 : 5 }

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    let conversation = try await FanOutScene.prepare(recipients: recipients, subject.control, on: reactor)
    return try await bench.withService(of: subject, on: reactor) { service in
      try await LoadRun.with(bench, subject, service, extra: [conversation], on: reactor) { run in
        try await send(run, on: reactor)
        run.markStart()
        for _ in 0..<Self.repetitions(recipients: recipients) { try await send(run, on: reactor) }
        return Self.figures(of: try await run.finish(counting: { $0 > 0 }, on: reactor))
      }
    }
  }

  /// One message, from an idle service to an idle service.
  private func send(_ run: LoadRun, on reactor: isolated Reactor) async throws {
    run.writer.insertSoon(into: subject.conversations.count, intended: Reactor.now, on: reactor)
    try await run.writer.drain(on: reactor)
    _ = await bench.sink.wait(for: run.writer.expectedPushes, within: ServiceBench.acceptanceLimit)
    try await subject.awaitQuiet(on: reactor)
  }

  private static func figures(of outcome: LoadOutcome) -> [String: Double] {
    let books = outcome.books
    var figures = outcome.costs
    figures.merge(books.first.figures("first", [50])) { $1 }
    figures.merge(books.complete.figures("complete", [50])) { $1 }
    figures["complete_max_ms"] = books.complete.millisecondsMax
    figures["pushes"] = Double(books.pushes)
    figures["doubled"] = Double(books.doubled)
    return figures
  }
}

/// Conversations of one sender and any number of recipients with one device each. No recipient is looking.
enum FanOutScene {
  /// Creates the missing rows, and reads the conversation.
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

  // Reproducible ids. Number 0 is the sender.
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
    update public.conversation_participants c set last_seen = null, tacet_left_at = null
    where c.conversation_id = \(conversation) and (c.last_seen is not null or c.tacet_left_at is not null)
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
