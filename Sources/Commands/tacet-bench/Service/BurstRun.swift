import ArgumentParser
import Reactors

enum BurstInsert: String, ExpressibleByArgument, Sendable, CaseIterable {
  /// One statement for each, on all connections.
  case row
  /// One statement for a hundred, on all connections.
  case hundred
  case statement

  /// Rows of one statement.
  /// - Parameter all: how many messages there are.
  func rows(of all: Int) -> Int {
    switch self {
    case .row: 1
    case .hundred: 100
    case .statement: all
    }
  }
}

/// Scenario `burst-MESSAGES`: messages as fast as they can be committed, and the time of the last acceptance.
struct BurstRun {
  let bench: ServiceBench
  let subject: SubjectBench
  let messages: Int

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    try await bench.withService(of: subject, on: reactor) { service in
      try await LoadRun.with(bench, subject, service, on: reactor) { run in
        try await run.warmUp(on: reactor)
        run.markStart()
        let first = run.writer.messages.count
        try await run.burst(messages, on: reactor)
        let outcome = try await run.finish(counting: { $0 >= first }, on: reactor)
        return Self.figures(of: outcome)
      }
    }
  }

  private static func figures(of outcome: LoadOutcome) -> [String: Double] {
    let sent = outcome.messages.map(\.sent).min() ?? 0
    let commits = outcome.messages.map(\.committed)
    let (first, last) = (commits.min() ?? 0, commits.max() ?? 0)
    var figures = outcome.costs
    figures["commit_ms"] = Double(last - sent) / 1e6
    figures["complete_ms"] = Double(max(outcome.books.lastAcceptance, first) - first) / 1e6
    figures["pushes"] = Double(outcome.books.pushes)
    figures["doubled"] = Double(outcome.books.doubled)
    return figures
  }
}

extension LoadRun {
  /// Inserts messages as fast as the connections can, and waits for all commits.
  func burst(_ count: Int, on reactor: isolated Reactor) async throws {
    let rows = bench.burstInsert.rows(of: count)
    for start in stride(from: 0, to: count, by: rows) {
      writer.insertTogether(min(rows, count - start), on: reactor)
    }
    try await writer.drain(on: reactor)
  }
}
