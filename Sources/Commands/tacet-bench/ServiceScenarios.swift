import FoundationEssentials
import Postgres
import Reactors

/// The shared parts of all runs: the sink, and the settings and logs of the services.
struct ServiceBench: Sendable {
  /// The load's, each with one insert in flight.
  static let connections = 64

  let sink: RunningSink
  let credentials: ServiceCredentials
  /// The folder of the services' logs.
  let folder: String
  let warmUpSeconds: Double
  let seconds: Double

  func start(
    of bench: SubjectBench, folds: Bool = true, on reactor: isolated Reactor
  ) async throws -> RunningService {
    try await RunningService.start(
      bench.subject.program, log: "\(folder)/\(bench.subject.name).log",
      settings: { credentials.settings(database: bench.subject.conninfo, listenAddress: $0, folds: folds) }, on: reactor
    )
  }

  /// Runs work beside a service that has finished the work of earlier runs, and always ends the service.
  func withService<Value>(
    of bench: SubjectBench, folds: Bool = true, on reactor: isolated Reactor,
    _ work: (RunningService) async throws -> Value
  ) async throws -> Value {
    await bench.checkpoint(on: reactor)
    let service = try await start(of: bench, folds: folds, on: reactor)
    do {
      try await bench.awaitQuiet(on: reactor)
      _ = await sink.take()
      let value = try await work(service)
      try await service.child.stop(on: reactor)
      return value
    } catch {
      try? await service.child.stop(on: reactor)
      throw error
    }
  }
}

/// The scenarios of one subject. Each returns its figures, and throws when a message was lost or shown twice.
struct ScenarioRun {
  let bench: ServiceBench
  let subject: SubjectBench

  private var conversations: Int { subject.conversations.count }

  /// `messages-RATE`: messages at a steady rate, half of them in bursts.
  func messages(
    perSecond: Double, warmUpSeconds: Double? = nil, seconds: Double? = nil, on reactor: isolated Reactor
  ) async throws -> [String: Double] {
    try await withLoad(by: .bursty(among: conversations, perSecond: perSecond), on: reactor) { run in
      try await run.keepRate(
        perSecond, warmUpSeconds: warmUpSeconds ?? bench.warmUpSeconds, seconds: seconds ?? bench.seconds, on: reactor)
    }
  }

  /// `unfolded-RATE`: the same without bursts, and a push for each message.
  func unfolded(perSecond: Double, on reactor: isolated Reactor) async throws -> [String: Double] {
    try await withLoad(by: .even(among: conversations), folds: false, on: reactor) {
      try await $0.keepRate(perSecond, warmUpSeconds: bench.warmUpSeconds, seconds: bench.seconds, on: reactor)
    }
  }

  /// `group-RECIPIENTS`: a message a second to one conversation.
  func group(of recipients: Int, on reactor: isolated Reactor) async throws -> [String: Double] {
    let group = try await HostScene.group(of: recipients, subject.control, on: reactor)
    return try await withLoad(by: .alone(conversations), extra: [group], on: reactor) {
      try await $0.keepRate(1, warmUpSeconds: bench.warmUpSeconds, seconds: max(bench.seconds, 4), on: reactor)
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
    try await withLoad(by: .even(among: conversations), on: reactor) { run in
      try await run.warmUp(on: reactor)
      run.markStart()
      let before = run.writer.messages.count
      for start in stride(from: 0, to: messages, by: 100) {
        run.writer.insertSoon(min(100, messages - start), on: reactor)
      }
      try await run.writer.drain(on: reactor)
      let outcome = try await run.finish(counting: { $0 >= before }, on: reactor)
      let counted = run.writer.messages[before...]
      let (sent, commits) = (counted.map(\.sent).min() ?? 0, counted.map(\.committed))
      let (first, last) = (commits.min() ?? 0, commits.max() ?? 0)
      var figures = outcome.figures
      figures["commit_ms"] = Double(last - sent) / 1e6
      figures["complete_ms"] = Double(max(outcome.books.lastAcceptance, first) - first) / 1e6
      return figures
    }
  }

  /// `kill`: one of two processes is killed while messages come. The longest that one of them waits from then on.
  func kill(on reactor: isolated Reactor) async throws -> [String: Double] {
    let (rate, seconds) = (300.0, 10.0)
    return try await withLoad(by: .bursty(among: conversations, perSecond: rate), on: reactor) { run in
      let other = try await bench.start(of: subject, on: reactor)
      defer { other.child.crash() }
      // Until the two share the conversations.
      await reactor.sleep(for: .seconds(5))
      let schedule = ArrivalSchedule(perSecond: rate, warmUpSeconds: bench.warmUpSeconds, seconds: seconds)
      var killedAt: UInt64 = 0
      try await OpenLoop(schedule, through: run.writer) {
        killedAt = Reactor.now
        other.child.crash()
      }.run(on: reactor)
      let books = try await run.finish(counting: { _ in true }, on: reactor).books
      return books.figures.merging(["resumed_ms": books.longestWait(after: killedAt)]) { $1 }
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

  /// Runs work with a service and the host's connections, which are closed then. Adds what the database has written.
  /// - Parameter extra: conversations besides the picked ones.
  private func withLoad(
    by turns: ConversationTurns, extra: [BenchConversation] = [], folds: Bool = true, on reactor: isolated Reactor,
    _ work: (LoadRun) async throws -> [String: Double]
  ) async throws -> [String: Double] {
    var before: (place: String, deadRows: Int64)?
    var messages = 0
    let figures = try await bench.withService(of: subject, folds: folds, on: reactor) { service in
      try await subject.ageOwnership(on: reactor)
      let pool = try await PostgresPool.host(
        subject.hostConninfo, connections: ServiceBench.connections, on: reactor)
      before = try await subject.writes(on: reactor)
      let run = LoadRun(bench, subject, service, by: turns, extra: extra, over: pool)
      do {
        let figures = try await work(run)
        messages = run.writer.messages.count
        await pool.close(on: reactor)
        return figures
      } catch {
        await pool.close(on: reactor)
        throw error
      }
    }
    guard let before else { return figures }
    return figures.merging(try await subject.figures(since: before, messages: messages, on: reactor)) { $1 }
  }
}

/// A run with load: the service, the host's connections, and their records.
final class LoadRun {
  let writer: MessageWriter
  private let bench: ServiceBench
  private let subject: SubjectBench
  private let service: RunningService
  private let conversations: [BenchConversation]
  private var usageBefore: ServiceUsage

  init(
    _ bench: ServiceBench, _ subject: SubjectBench, _ service: RunningService, by turns: ConversationTurns,
    extra: [BenchConversation], over pool: PostgresPool
  ) {
    self.bench = bench
    self.subject = subject
    self.service = service
    conversations = subject.conversations + extra
    writer = MessageWriter(into: conversations, by: turns, over: pool)
    usageBefore = ServiceUsage(of: service.child.id, postmaster: subject.postmaster)
  }

  /// Starts to count processor time.
  func markStart() {
    usageBefore = ServiceUsage(of: service.child.id, postmaster: subject.postmaster)
  }

  /// Inserts messages at a steady rate.
  func keepRate(
    _ perSecond: Double, warmUpSeconds: Double, seconds: Double, on reactor: isolated Reactor
  ) async throws -> [String: Double] {
    let schedule = ArrivalSchedule(perSecond: perSecond, warmUpSeconds: warmUpSeconds, seconds: seconds)
    try await OpenLoop(schedule, through: writer, atFirstCounted: markStart).run(on: reactor)
    let outcome = try await finish(counting: schedule.counted.contains, on: reactor)
    let (books, span) = (outcome.books, schedule.countedSpan)
    var figures = outcome.figures
    figures.merge(books.commit.figures("commit", [50, 99])) { $1 }
    figures["offered_per_second"] = perSecond
    figures["achieved_per_second"] =
      Double(books.completed(in: span)) * 1e9 / Double(span.upperBound - span.lowerBound)
    return figures
  }

  /// Inserts uncounted messages, a hundred a second, and waits until the service is idle.
  func warmUp(on reactor: isolated Reactor) async throws {
    guard bench.warmUpSeconds > 0 else { return }
    let schedule = ArrivalSchedule(perSecond: 100, warmUpSeconds: 0, seconds: bench.warmUpSeconds)
    try await OpenLoop(schedule, through: writer).run(on: reactor)
    try await awaitEnd(on: reactor)
  }

  /// Waits until every message has its push, or until the service has nothing left to do, because some were folded.
  private func awaitEnd(on reactor: isolated Reactor) async throws {
    try await subject.awaitQuiet(on: reactor) {
      await self.bench.sink.wait(for: self.writer.expectedPushes, within: .milliseconds(100))
    }
  }

  /// Waits for the end of every message and for the service to be idle. Costs end with the last message.
  /// - Parameter isCounted: whether the message of a number counts.
  /// - Throws: when a message was lost, shown twice or misdirected.
  func finish(counting isCounted: (Int) -> Bool, on reactor: isolated Reactor) async throws -> LoadOutcome {
    try await awaitEnd(on: reactor)
    let usage = ServiceUsage(of: service.child.id, postmaster: subject.postmaster)
    try await subject.awaitQuiet(on: reactor)
    let books = RunBooks(
      writer.messages, isCounted: isCounted, recipients: conversations.map(\.devices),
      acceptances: await bench.sink.take(), folded: try await subject.folded(of: writer.messages.map(\.id), on: reactor)
    )
    try books.check()
    let figures = usage.figures(since: usageBefore, messages: books.messages).merging(service.memoryFigures) { $1 }
    return LoadOutcome(books: books, figures: figures.merging(books.figures) { $1 })
  }
}

struct LoadOutcome {
  let books: RunBooks
  /// Processor time, memory and threads, and those of the books.
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
