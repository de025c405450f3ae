import FoundationEssentials

/// The runs of a measurement by figure.
package struct BenchRuns: Sendable {
  /// All figures, in the order in which scenarios and subjects first appear, then by name.
  package private(set) var paths: [FigurePath] = []

  private var rounds: [FigurePath: [Int: Double]] = [:]

  /// - Throws: `measuredTwice`.
  package init(_ runs: [BenchRun]) throws(BenchReportError) {
    for run in runs {
      for (figure, value) in run.figures.sorted(by: { $0.key < $1.key }) {
        try add(value, of: FigurePath(run.scenario, run.subject, figure), round: run.round)
      }
    }
  }

  /// A run on each line, as JSON. Empty lines are ignored.
  /// - Throws: `unreadableLine`, `measuredTwice`.
  package init(lines text: String) throws(BenchReportError) {
    let decoder = JSONDecoder()
    var runs: [BenchRun] = []
    for (number, line) in zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)) where !line.isEmpty {
      guard let run = try? decoder.decode(BenchRun.self, from: Data(line.utf8)) else {
        throw .unreadableLine(number)
      }
      runs.append(run)
    }
    try self.init(runs)
  }

  /// A figure by its round.
  ///
  /// - Returns: empty when it was not measured.
  package func values(of path: FigurePath) -> [Int: Double] {
    rounds[path] ?? [:]
  }

  private mutating func add(_ value: Double, of path: FigurePath, round: Int) throws(BenchReportError) {
    if rounds[path] == nil { paths.append(path) }
    let before = rounds[path, default: [:]].updateValue(value, forKey: round)
    guard before == nil else { throw .measuredTwice(path, round: round) }
  }
}

/// The figures of one run of a scenario.
///
/// Measurements print each run as one line of JSON, and reports read those lines.
package struct BenchRun: Codable, Sendable, Equatable {
  /// The scenario, such as `messages-300`.
  package var scenario: String

  /// The subject: `tacet`, another database or build, or a reference such as `h2load`.
  package var subject: String

  /// The round, from 1. The runs of a round were measured one after the other, in changing order.
  package var round: Int

  /// The figures by names that end in their unit, such as `accepted_p50_ms`.
  package var figures: [String: Double]

  package init(scenario: String, subject: String, round: Int, figures: [String: Double]) {
    self.scenario = scenario
    self.subject = subject
    self.round = round
    self.figures = figures
  }
}

/// Which figure: of which scenario, measured on which subject.
package struct FigurePath: Codable, Hashable, Sendable {
  package var scenario: String

  package var subject: String

  /// A key of `BenchRun.figures`; it ends in its unit.
  package var figure: String

  package init(_ scenario: String, _ subject: String, _ figure: String) {
    self.scenario = scenario
    self.subject = subject
    self.figure = figure
  }
}

/// Why runs or recorded ratios cannot be read.
package enum BenchReportError: Error, Equatable, CustomStringConvertible {
  /// This line, counted from 1, is not a run.
  case unreadableLine(Int)
  /// A figure of a round occurs twice, for example because the runs of two measurements were combined.
  case measuredTwice(FigurePath, round: Int)
  /// The file has no recorded ratios.
  case unreadableRatios

  package var description: String {
    switch self {
    case .unreadableLine(let line): "line \(line) is no run of a scenario"
    case .measuredTwice(let path, let round):
      "\(path.figure) of \(path.subject) in \(path.scenario), round \(round), is there twice"
    case .unreadableRatios: "this is no file of recorded ratios"
    }
  }
}
