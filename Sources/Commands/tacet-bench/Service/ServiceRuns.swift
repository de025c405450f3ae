import ArgumentParser
import Reactors

/// All scenarios, each in rounds in which the subjects take turns.
struct ServiceRuns: Sendable {
  let bench: ServiceBench
  let subjects: [Subject]
  /// The load's connection string by the subject's name.
  let hostConninfos: [String: String]
  let scenarios: [ServiceScenario]
  /// Their numbers, from 1.
  let rounds: ClosedRange<Int>

  /// Prints a line after each run.
  /// - Returns: whether all runs succeeded.
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
    case .messages(let rate):
      try await MessagesRun(bench: bench, subject: subject, perSecond: rate).figures(on: reactor)
    case .sustained:
      try await SustainedRun(bench: bench, subject: subject, from: bench.sustainedFrom).figures(on: reactor)
    case .burst(let messages):
      try await BurstRun(bench: bench, subject: subject, messages: messages).figures(on: reactor)
    case .fanOut(let recipients):
      try await FanOutRun(bench: bench, subject: subject, recipients: recipients).figures(on: reactor)
    case .start: try await StartRun(bench: bench, subject: subject).figures(on: reactor)
    }
  }
}

/// A scenario, with the name in its reports.
enum ServiceScenario: ExpressibleByArgument, Sendable, Equatable, CustomStringConvertible {
  /// Messages inserted at a steady rate per second: `messages-RATE`.
  case messages(perSecond: Int)
  case sustained
  /// One message to many: `fanout-RECIPIENTS`.
  case fanOut(recipients: Int)
  /// Many messages at once: `burst-MESSAGES`.
  case burst(messages: Int)
  case start

  init?(argument: String) {
    let words = argument.split(separator: "-", omittingEmptySubsequences: false)
    switch (words[0], words.count) {
    case ("messages", 2):
      guard let rate = Self.number(words[1]) else { return nil }
      self = .messages(perSecond: rate)
    case ("burst", 2):
      guard let messages = Self.number(words[1]) else { return nil }
      self = .burst(messages: messages)
    case ("fanout", 2):
      guard let recipients = Self.number(words[1]) else { return nil }
      self = .fanOut(recipients: recipients)
    default:
      guard let scenario = Self.named.first(where: { $0.description == argument }) else { return nil }
      self = scenario
    }
  }

  private static let named: [ServiceScenario] = [.sustained, .start]

  var description: String {
    switch self {
    case .messages(let rate): "messages-\(rate)"
    case .sustained: "sustained"
    case .burst(let messages): "burst-\(messages)"
    case .fanOut(let recipients): "fanout-\(recipients)"
    case .start: "start"
    }
  }

  /// From 1 to a million, without a sign or leading zeros.
  private static func number(_ text: Substring) -> Int? {
    guard let number = Int(text), (1...1_000_000).contains(number), String(number) == text else { return nil }
    return number
  }
}
