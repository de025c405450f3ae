import BenchReports
import Reactors

/// All scenarios, each in rounds in which the subjects take turns.
struct ServiceRuns: Sendable {
  let bench: ServiceBench
  let subjects: [Subject]
  /// What the load connects with, by the subject's name.
  let hostConninfos: [String: String]
  let scenarios: [ServiceScenario]
  /// Their numbers, from 1.
  let rounds: ClosedRange<Int>

  /// Prints a line for each run as soon as it is over.
  /// - Returns: whether all runs went well.
  func run(on reactor: isolated Reactor) async throws -> Bool {
    var benches: [SubjectBench] = []
    defer { for bench in benches { bench.close(on: reactor) } }
    for subject in subjects {
      let host = hostConninfos[subject.name] ?? subject.conninfo
      benches.append(try await SubjectBench.open(subject, hostConninfo: host, on: reactor))
    }
    var isGood = true
    for scenario in scenarios {
      for round in rounds {
        for subject in Self.turns(of: benches, inRound: round) {
          isGood = await run(scenario, subject, round: round, on: reactor) && isGood
        }
      }
    }
    return isGood
  }

  /// Each round begins with the next subject.
  static func turns<Element>(of all: [Element], inRound round: Int) -> [Element] {
    let first = (round - 1) % all.count
    return Array(all[first...] + all[..<first])
  }

  private func run(
    _ scenario: ServiceScenario, _ subject: SubjectBench, round: Int, on reactor: isolated Reactor
  ) async -> Bool {
    let name = "\(scenario), \(subject.subject.name), round \(round)"
    Progress.say(name)
    do {
      let figures = try await measure(scenario, subject, on: reactor)
      try Progress.print(
        BenchRun(scenario: "\(scenario)", subject: subject.subject.name, round: round, figures: figures))
      return true
    } catch {
      Progress.say("\(name): failed: \(error)")
      return false
    }
  }

  private func measure(
    _ scenario: ServiceScenario, _ subject: SubjectBench, on reactor: isolated Reactor
  ) async throws -> [String: Double] {
    switch scenario {
    case .messages(let way, let rate):
      try await MessagesRun(bench: bench, subject: subject, way: way, perSecond: rate).figures(on: reactor)
    case .sustained:
      try await SustainedRun(bench: bench, subject: subject, from: bench.sustainedFrom).figures(on: reactor)
    case .burst(let messages):
      try await BurstRun(bench: bench, subject: subject, messages: messages).figures(on: reactor)
    case .fanOut(let recipients):
      try await FanOutRun(bench: bench, subject: subject, recipients: recipients).figures(on: reactor)
    case .directDuringFanOut:
      try await DirectDuringFanOutRun(bench: bench, subject: subject).figures(on: reactor)
    case .suppressed: try await SuppressedRun(bench: bench, subject: subject).figures(on: reactor)
    case .reference: try await ReferenceRun(subject: subject).figures(on: reactor)
    case .start: try await StartRun(bench: bench, subject: subject).figures(on: reactor)
    }
  }
}
