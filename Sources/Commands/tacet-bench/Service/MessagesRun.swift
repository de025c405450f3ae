import Reactors

/// Scenario `messages-RATE`.
struct MessagesRun {
  let bench: ServiceBench
  let subject: SubjectBench
  let perSecond: Int

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    let trial = MessageTrial(
      bench: bench, subject: subject, perSecond: Double(perSecond), warmUpSeconds: bench.warmUpSeconds,
      seconds: bench.seconds)
    return try await bench.withService(of: subject, on: reactor) { try await trial.run(beside: $0, on: reactor) }
  }
}

/// Messages at a steady rate, and their figures.
struct MessageTrial {
  let bench: ServiceBench
  let subject: SubjectBench
  let perSecond: Double
  let warmUpSeconds: Double
  let seconds: Double

  /// - Throws: when a push was lost, and what the database throws.
  func run(beside service: RunningService, on reactor: isolated Reactor) async throws -> [String: Double] {
    try await LoadRun.with(bench, subject, service, on: reactor) { run in
      let schedule = ArrivalSchedule(
        start: Reactor.now + ArrivalSchedule.leadNanoseconds, perSecond: perSecond, warmUpSeconds: warmUpSeconds,
        seconds: seconds)
      try await OpenLoop(schedule, through: run.writer, atFirstCounted: run.markStart).run(on: reactor)
      let outcome = try await run.finish(counting: schedule.counted.contains, on: reactor)
      return Self.figures(of: outcome.books, schedule).merging(outcome.costs) { $1 }
    }
  }

  private static func figures(of books: RunBooks, _ schedule: ArrivalSchedule) -> [String: Double] {
    let span = schedule.countedSpan
    var figures = books.accepted.figures("accepted", [50, 90, 99])
    figures.merge(books.arrival.figures("arrival", [50, 99])) { $1 }
    figures.merge(books.commit.figures("commit", [50, 99])) { $1 }
    figures["accepted_max_ms"] = books.accepted.millisecondsMax
    figures["offered_per_second"] = schedule.perSecond
    figures["achieved_per_second"] = Double(books.completed(in: span)) * 1e9 / Double(span.upperBound - span.lowerBound)
    figures["pushes"] = Double(books.pushes)
    figures["lost"] = Double(books.lost)
    figures["doubled"] = Double(books.doubled)
    return figures
  }
}

/// Scenario `sustained`: the highest rate at which 99 of 100 pushes are accepted within a tenth of a second of their
/// commit, and throughput equals the rate.
struct SustainedRun {
  private static let acceptedMillisecondsMax = 100.0
  private static let shareMin = 0.98
  private static let warmUpSeconds = 1.0

  let bench: ServiceBench
  let subject: SubjectBench
  /// The first rate.
  let from: Double

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    var search = RateSearch(from: from)
    var best: [String: Double]?
    while let rate = search.next {
      let figures = try await trial(at: rate, on: reactor)
      let isKept = Self.isKept(figures)
      Progress.say("  \(Int(rate))/s: \(isKept ? "kept" : "not kept"), p99 \(figures["accepted_p99_ms"] ?? 0) ms")
      if isKept { best = figures }
      search.record(rate, isKept: isKept)
    }
    guard var best else { throw BenchError("no rate was kept up with") }
    best["messages_per_second"] = best["offered_per_second"]
    return best
  }

  private func trial(at rate: Double, on reactor: isolated Reactor) async throws -> [String: Double] {
    let trial = MessageTrial(
      bench: bench, subject: subject, perSecond: rate, warmUpSeconds: Self.warmUpSeconds,
      seconds: bench.seconds / 2)
    return try await bench.withService(of: subject, on: reactor) { try await trial.run(beside: $0, on: reactor) }
  }

  private static func isKept(_ figures: [String: Double]) -> Bool {
    guard let latency = figures["accepted_p99_ms"], let achieved = figures["achieved_per_second"],
      let offered = figures["offered_per_second"]
    else { return false }
    return latency < acceptedMillisecondsMax && achieved >= shareMin * offered
  }
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
