import Reactors

/// Messages at a steady rate, and what became of them.
struct MessageTrial {
  let bench: ServiceBench
  let subject: SubjectBench
  let way: WakeWay
  let perSecond: Double
  let warmUpSeconds: Double
  let seconds: Double

  /// - Throws: when a push was lost, and what the database throws.
  func run(beside service: RunningService, on reactor: isolated Reactor) async throws -> [String: Double] {
    try await LoadRun.with(bench, subject, service, on: reactor) { run in
      let poster = WebhookPoster(to: service, secret: bench.credentials.webhookSecret, on: reactor)
      defer { poster.close(on: reactor) }
      if way == .webhook { run.writer.observer = poster }
      let schedule = ArrivalSchedule(
        start: Reactor.now + ArrivalSchedule.leadNanoseconds, perSecond: perSecond, warmUpSeconds: warmUpSeconds,
        seconds: seconds)
      try await OpenLoop(schedule, through: run.writer, atFirstCounted: run.markStart).run(on: reactor)
      try poster.check()
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
