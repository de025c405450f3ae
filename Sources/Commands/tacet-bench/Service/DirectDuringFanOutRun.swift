import FoundationEssentials
import Reactors

/// Scenario `direct-during-fanout`: messages to one, while messages to thousands are on their way one after the other.
struct DirectDuringFanOutRun {
  private static let recipients = 5000
  private static let directPerSecond = 50.0

  let bench: ServiceBench
  let subject: SubjectBench

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    let large = try await FanOutScene.prepare(recipients: Self.recipients, subject.control, on: reactor)
    return try await bench.withService(of: subject, on: reactor) { service in
      try await LoadRun.with(bench, subject, service, extra: [large], on: reactor) { run in
        try await run.warmUp(on: reactor)
        let fanOuts = FanOutSeries(into: subject.conversations.count, recipients: Self.recipients, of: run)
        let warmUp = run.writer.messages.count
        run.markStart()
        fanOuts.start(on: reactor)
        try await run.insertSteadily(perSecond: Self.directPerSecond, seconds: bench.seconds, on: reactor)
        await fanOuts.stop(on: reactor)
        let direct = subject.conversations.indices
        let messages = run.writer.messages
        let outcome = try await run.finish(
          counting: { $0 >= warmUp && direct.contains(messages[$0].conversation) }, on: reactor)
        return Self.figures(of: outcome.books, fanOuts: fanOuts.count)
      }
    }
  }

  private static func figures(of books: RunBooks, fanOuts: Int) -> [String: Double] {
    var figures = books.accepted.figures("accepted", [50, 99])
    figures["accepted_max_ms"] = books.accepted.millisecondsMax
    figures["pushes"] = Double(books.pushes)
    figures["doubled"] = Double(books.doubled)
    figures["fan_outs"] = Double(fanOuts)
    return figures
  }
}

/// Messages to many, each when everybody has the one before.
private final class FanOutSeries {
  /// Those that everybody has.
  private(set) var count = 0
  private let conversation: Int
  private let recipients: Int
  private let run: LoadRun
  private var isStopping = false
  private let end = Signal()

  init(into conversation: Int, recipients: Int, of run: LoadRun) {
    self.conversation = conversation
    self.recipients = recipients
    self.run = run
  }

  func start(on reactor: isolated Reactor) {
    reactor.start {
      while !self.isStopping, await self.send(on: reactor) { self.count += 1 }
      self.end.signal(on: reactor)
    }
  }

  /// The one that is under way is the last. Returns when everybody has it.
  func stop(on reactor: isolated Reactor) async {
    isStopping = true
    _ = await end.wait(on: reactor)
  }

  private func send(on reactor: isolated Reactor) async -> Bool {
    let number = run.writer.insertSoon(into: conversation, intended: Reactor.now, on: reactor)
    return await run.bench.sink.wait(
      for: run.writer.messages[number].id, pushes: recipients, within: ServiceBench.acceptanceLimit)
  }
}
