import FoundationEssentials
import Postgres
import Reactors

/// The shared parts of all runs: the sink, and the settings and logs of the services.
struct ServiceBench: Sendable {
  /// The time between the last commit and the last push of a run. Later pushes count as lost.
  static let acceptanceLimit = Duration.seconds(30)

  /// The load's, each with one insert in flight.
  static let connections = 64

  let sink: RunningSink
  let credentials: ServiceCredentials
  /// The folder of the services' logs.
  let folder: String
  let warmUpSeconds: Double
  let seconds: Double

  /// Runs work beside a service that has finished the work of earlier runs, and always ends the service.
  func withService<Value>(
    of bench: SubjectBench, on reactor: isolated Reactor, _ work: (RunningService) async throws -> Value
  ) async throws -> Value {
    try await bench.checkpoint(on: reactor)
    let service = try await RunningService.start(
      bench.subject.program, log: "\(folder)/\(bench.subject.name).log",
      settings: { credentials.settings(database: bench.subject.conninfo, listenAddress: $0) }, on: reactor)
    do {
      try await bench.awaitQuiet(on: reactor)
      await sink.clear()
      let value = try await work(service)
      try await service.child.stop(on: reactor)
      return value
    } catch {
      try? await service.child.stop(on: reactor)
      throw error
    }
  }
}

/// The scenarios of one subject. Each returns its figures, and throws when a push was lost.
struct ScenarioRun {
  let bench: ServiceBench
  let subject: SubjectBench

  /// `messages-RATE`: messages at a steady rate.
  func messages(
    perSecond: Double, warmUpSeconds: Double, seconds: Double, on reactor: isolated Reactor
  ) async throws -> [String: Double] {
    try await withLoad(on: reactor) { run in
      let schedule = ArrivalSchedule(
        start: Reactor.now + ArrivalSchedule.leadNanoseconds, perSecond: perSecond, warmUpSeconds: warmUpSeconds,
        seconds: seconds)
      try await OpenLoop(schedule, through: run.writer, atFirstCounted: run.markStart).run(on: reactor)
      let outcome = try await run.finish(counting: schedule.counted.contains, on: reactor)
      let (books, span) = (outcome.books, schedule.countedSpan)
      var figures = outcome.figures
      figures.merge(books.accepted.figures("accepted", [50, 90, 99])) { $1 }
      figures.merge(books.arrival.figures("arrival", [50, 99])) { $1 }
      figures.merge(books.commit.figures("commit", [50, 99])) { $1 }
      figures["accepted_max_ms"] = books.accepted.millisecondsMax
      figures["offered_per_second"] = schedule.perSecond
      figures["achieved_per_second"] =
        Double(books.completed(in: span)) * 1e9 / Double(span.upperBound - span.lowerBound)
      figures["lost"] = Double(books.lost)
      return figures
    }
  }

  /// `sustained`: the highest rate at which 99 of 100 pushes are accepted within a tenth of a second of their commit,
  /// and throughput equals the rate.
  func sustained(on reactor: isolated Reactor) async throws -> [String: Double] {
    var search = RateSearch(from: 2000)
    var best: [String: Double]?
    while let rate = search.next {
      let figures = try await messages(perSecond: rate, warmUpSeconds: 1, seconds: bench.seconds / 2, on: reactor)
      let latency = figures["accepted_p99_ms"] ?? .infinity
      let isKept = latency < 100 && (figures["achieved_per_second"] ?? 0) >= 0.98 * rate
      Progress.say("  \(Int(rate))/s: \(isKept ? "kept" : "not kept"), p99 \(latency) ms")
      if isKept { best = figures }
      search.record(rate, isKept: isKept)
    }
    guard var best else { throw BenchError("no rate was kept up with") }
    best["messages_per_second"] = best["offered_per_second"]
    return best
  }

  /// `burst-MESSAGES`: messages as fast as they can be committed, a hundred in a statement, and the time of the last
  /// acceptance.
  func burst(_ messages: Int, on reactor: isolated Reactor) async throws -> [String: Double] {
    try await withLoad(on: reactor) { run in
      try await run.warmUp(on: reactor)
      run.markStart()
      let before = run.writer.messages.count
      for start in stride(from: 0, to: messages, by: 100) {
        run.writer.insertTogether(min(100, messages - start), on: reactor)
      }
      try await run.writer.drain(on: reactor)
      let outcome = try await run.finish(counting: { $0 >= before }, on: reactor)
      let sent = outcome.messages.map(\.sent).min() ?? 0
      let commits = outcome.messages.map(\.committed)
      let (first, last) = (commits.min() ?? 0, commits.max() ?? 0)
      var figures = outcome.figures
      figures["commit_ms"] = Double(last - sent) / 1e6
      figures["complete_ms"] = Double(max(outcome.books.lastAcceptance, first) - first) / 1e6
      return figures
    }
  }

  /// The counted messages of a fan-out. Five are enough with thousands of pushes each.
  static func repetitions(recipients: Int) -> Int { recipients < 5000 ? 20 : 5 }

  /// `fanout-RECIPIENTS`: one message to many, and the next after its last push, from an idle service to an idle one.
  func fanOut(_ recipients: Int, on reactor: isolated Reactor) async throws -> [String: Double] {
    let conversation = try await FanOutScene.prepare(recipients: recipients, subject.control, on: reactor)
    return try await withLoad(extra: [conversation], on: reactor) { run in
      try await run.sendAlone(
        Self.repetitions(recipients: recipients), into: subject.conversations.count, on: reactor)
      let outcome = try await run.finish(counting: { $0 > 0 }, on: reactor)
      var figures = outcome.figures
      figures.merge(outcome.books.first.figures("first", [50])) { $1 }
      figures.merge(outcome.books.complete.figures("complete", [50])) { $1 }
      figures["complete_max_ms"] = outcome.books.complete.millisecondsMax
      return figures
    }
  }

  /// `start`: the time to become ready, of five starts, and the footprint after two idle seconds of the last one.
  func start(on reactor: isolated Reactor) async throws -> [String: Double] {
    var times = LatencyHistogram()
    var memory: [String: Double] = [:]
    for start in 1...5 {
      memory = try await bench.withService(of: subject, on: reactor) { service in
        times.record(nanoseconds: service.readyAfter)
        if start == 5 { await reactor.sleep(for: .seconds(2)) }
        return service.memoryFigures
      }
    }
    return memory.merging(["ready_ms": times.milliseconds(at: 50), "ready_max_ms": times.millisecondsMax]) { $1 }
  }

  /// Runs work with a service and the host's connections, which are closed then.
  /// - Parameter extra: additional conversations, which take no turns.
  private func withLoad(
    extra: [BenchConversation] = [], on reactor: isolated Reactor, _ work: (LoadRun) async throws -> [String: Double]
  ) async throws -> [String: Double] {
    try await bench.withService(of: subject, on: reactor) { service in
      let sessions = try await HostSessions.open(
        ServiceBench.connections, to: subject.hostConninfo, preparing: [.insertMessage, .insertMessages], on: reactor)
      defer { sessions.close(on: reactor) }
      return try await work(LoadRun(bench, subject, service, extra: extra, over: sessions))
    }
  }
}

/// A run with load: the service, the host's connections, and their records.
final class LoadRun {
  let writer: MessageWriter
  private let bench: ServiceBench
  private let subject: SubjectBench
  private let service: RunningService
  /// The picked conversations, which take turns, and those of this run.
  private let conversations: [BenchConversation]
  private var usageBefore: ServiceUsage

  init(
    _ bench: ServiceBench, _ subject: SubjectBench, _ service: RunningService, extra: [BenchConversation],
    over sessions: HostSessions
  ) {
    self.bench = bench
    self.subject = subject
    self.service = service
    conversations = subject.conversations + extra
    writer = MessageWriter(into: conversations, turns: subject.conversations.count, over: sessions)
    usageBefore = ServiceUsage(of: service.child.id, postmaster: subject.postmaster)
  }

  /// Starts to count processor time.
  func markStart() {
    usageBefore = ServiceUsage(of: service.child.id, postmaster: subject.postmaster)
  }

  /// Inserts uncounted messages, a hundred a second, and waits until the service is idle.
  func warmUp(on reactor: isolated Reactor) async throws {
    guard bench.warmUpSeconds > 0 else { return }
    let schedule = ArrivalSchedule(
      start: Reactor.now + ArrivalSchedule.leadNanoseconds, perSecond: 100, warmUpSeconds: 0,
      seconds: bench.warmUpSeconds)
    try await OpenLoop(schedule, through: writer).run(on: reactor)
    try await awaitPushes(on: reactor)
  }

  /// Inserts one uncounted message and so many counted ones, each into an idle service.
  func sendAlone(_ messages: Int, into conversation: Int, on reactor: isolated Reactor) async throws {
    for number in 0...messages {
      if number == 1 { markStart() }
      writer.insertSoon(into: conversation, intended: Reactor.now, on: reactor)
      try await writer.drain(on: reactor)
      try await awaitPushes(on: reactor)
    }
  }

  /// Waits for the last push and for the service to be idle.
  func awaitPushes(on reactor: isolated Reactor) async throws {
    _ = await bench.sink.wait(for: writer.expectedPushes, within: ServiceBench.acceptanceLimit)
    try await subject.awaitQuiet(on: reactor)
  }

  /// Waits for the last push and for the service to be idle. Costs end with the push.
  /// - Parameter isCounted: whether the message of a number counts.
  /// - Throws: when a push was lost or misdirected.
  func finish(counting isCounted: (Int) -> Bool, on reactor: isolated Reactor) async throws -> LoadOutcome {
    _ = await bench.sink.wait(for: writer.expectedPushes, within: ServiceBench.acceptanceLimit)
    let usage = ServiceUsage(of: service.child.id, postmaster: subject.postmaster)
    try await subject.awaitQuiet(on: reactor)
    let books = RunBooks(
      writer.messages, isCounted: isCounted, recipients: conversations.map(\.devices),
      acceptances: await bench.sink.take())
    try books.check()
    var figures = usage.figures(since: usageBefore, pushes: books.pushes).merging(service.memoryFigures) { $1 }
    figures["pushes"] = Double(books.pushes)
    figures["doubled"] = Double(books.doubled)
    return LoadOutcome(
      books: books, messages: writer.messages.indices.filter(isCounted).map { writer.messages[$0] }, figures: figures)
  }
}

struct LoadOutcome {
  let books: RunBooks
  /// The counted messages.
  let messages: [SentMessage]
  /// Processor time per push, memory and threads, pushes and doubled ones.
  let figures: [String: Double]
}

/// Searches for the highest kept rate: it rises by a quarter until a rate is missed, and then bisects.
struct RateSearch: Sendable, Equatable {
  private static let step = 1.25

  private var bisections = 3
  private var highestKept: Double?
  private var lowestMissed: Double?
  private let start: Double

  init(from start: Double) { self.start = start }

  /// The next rate, in whole messages per second; nil at the end of the search. If the first rate is missed, it falls
  /// until one is kept, but not below one message a second.
  var next: Double? {
    let rate: Double? =
      switch (highestKept, lowestMissed) {
      case (nil, nil): start
      case (let kept?, nil): kept * Self.step
      case (nil, let missed?): missed / Self.step
      case (let kept?, let missed?): bisections > 0 ? (kept + missed) / 2 : nil
      }
    return rate.map { $0.rounded() }.flatMap { $0 >= 1 && $0 != highestKept && $0 != lowestMissed ? $0 : nil }
  }

  mutating func record(_ rate: Double, isKept: Bool) {
    if highestKept != nil, lowestMissed != nil { bisections -= 1 }
    if isKept { highestKept = rate } else { lowestMissed = rate }
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
