import Reactors

/// Scenario `fanout-RECIPIENTS`: one message to many, and the next when everybody has it.
struct FanOutRun {
  let bench: ServiceBench
  let subject: SubjectBench
  let recipients: Int

  /// Messages that count: five of those that make thousands of pushes are enough.
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
