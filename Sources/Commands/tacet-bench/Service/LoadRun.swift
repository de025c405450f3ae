import Reactors

/// A run with load: the service, the host's connections, and their records.
final class LoadRun {
  /// Messages per second of the warm-up, in runs without a steady rate.
  private static let warmUpRate = 100.0

  let bench: ServiceBench
  let subject: SubjectBench
  let service: RunningService
  let writer: MessageWriter
  /// The picked conversations, which take turns, and those of this run.
  let conversations: [BenchConversation]
  private let sessions: HostSessions
  private var usageBefore: ServiceUsage

  private init(
    _ bench: ServiceBench, _ subject: SubjectBench, _ service: RunningService, extra: [BenchConversation],
    over sessions: HostSessions
  ) {
    self.bench = bench
    self.subject = subject
    self.service = service
    self.sessions = sessions
    conversations = subject.conversations + extra
    writer = MessageWriter(into: conversations, turns: subject.conversations.count, over: sessions)
    usageBefore = ServiceUsage(of: service.child.id, postmaster: subject.postmaster)
  }

  /// Runs work over the host's connections and closes them.
  /// - Parameter extra: additional conversations, which take no turns.
  static func with<Value>(
    _ bench: ServiceBench, _ subject: SubjectBench, _ service: RunningService,
    extra: [BenchConversation] = [], on reactor: isolated Reactor, _ work: (LoadRun) async throws -> Value
  ) async throws -> Value {
    let sessions = try await HostSessions.open(
      bench.connections, to: subject.hostConninfo, preparing: [.insertMessage, .insertMessages], on: reactor)
    defer { sessions.close(on: reactor) }
    return try await work(LoadRun(bench, subject, service, extra: extra, over: sessions))
  }

  /// Starts to count processor time.
  func markStart() {
    usageBefore = ServiceUsage(of: service.child.id, postmaster: subject.postmaster)
  }

  /// Inserts messages at a steady rate, and waits for all commits.
  func insertSteadily(perSecond: Double, seconds: Double, on reactor: isolated Reactor) async throws {
    let schedule = ArrivalSchedule(
      start: Reactor.now + ArrivalSchedule.leadNanoseconds, perSecond: perSecond, warmUpSeconds: 0, seconds: seconds)
    try await OpenLoop(schedule, through: writer).run(on: reactor)
  }

  /// Inserts uncounted messages at a low rate, and waits until the service is idle.
  func warmUp(on reactor: isolated Reactor) async throws {
    guard bench.warmUpSeconds > 0 else { return }
    try await insertSteadily(perSecond: Self.warmUpRate, seconds: bench.warmUpSeconds, on: reactor)
    _ = await bench.sink.wait(for: writer.expectedPushes, within: ServiceBench.acceptanceLimit)
    try await subject.awaitQuiet(on: reactor)
  }

  /// Waits for the last push and for the service to be idle.
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
    return LoadOutcome(
      books: books, messages: writer.messages.indices.filter(isCounted).map { writer.messages[$0] },
      costs: usage.figures(since: usageBefore, per: "push", count: books.pushes)
        .merging(service.memoryFigures) { $1 })
  }
}

struct LoadOutcome {
  let books: RunBooks
  /// The counted messages.
  let messages: [SentMessage]
  /// Processor time per push, memory and threads, by the figures' names.
  let costs: [String: Double]
}
