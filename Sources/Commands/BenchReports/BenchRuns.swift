import FoundationEssentials

/// The runs of a measurement, looked at figure by figure.
public struct BenchRuns: Sendable {
  /// Every figure that was measured: in the order in which scenarios and subjects first appear, then by name.
  public private(set) var paths: [FigurePath] = []

  private var rounds: [FigurePath: [Int: Double]] = [:]

  /// - Throws: `measuredTwice`.
  public init(_ runs: [BenchRun]) throws(BenchReportError) {
    for run in runs {
      for (figure, value) in run.figures.sorted(by: { $0.key < $1.key }) {
        try note(value, of: FigurePath(run.scenario, run.subject, figure), round: run.round)
      }
    }
  }

  /// A run on each line, as JSON; empty lines are passed over.
  /// - Throws: `unreadableLine`, `measuredTwice`.
  public init(lines text: String) throws(BenchReportError) {
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
  public func values(of path: FigurePath) -> [Int: Double] {
    rounds[path] ?? [:]
  }

  private mutating func note(_ value: Double, of path: FigurePath, round: Int) throws(BenchReportError) {
    if rounds[path] == nil { paths.append(path) }
    let before = rounds[path, default: [:]].updateValue(value, forKey: round)
    guard before == nil else { throw .measuredTwice(path, round: round) }
  }
}

/// What one run of a scenario has measured.
///
/// Everything that measures prints its runs, each as one line of JSON; everything that judges reads those lines.
public struct BenchRun: Codable, Sendable, Equatable {
  /// What was done, such as `messages-notify-300`.
  public var scenario: String

  /// What it was done to: `tacet`, a database or build that it is compared with, or a reference such as `h2load`.
  public var subject: String

  /// Runs of one round belong together: they were measured right after one another, in changing order. From 1.
  public var round: Int

  /// What was measured, by names that end in their unit, such as `accepted_p50_ms`.
  public var figures: [String: Double]

  /// A run.
  public init(scenario: String, subject: String, round: Int, figures: [String: Double]) {
    self.scenario = scenario
    self.subject = subject
    self.round = round
    self.figures = figures
  }
}

/// Which figure: of which scenario, measured on which subject.
public struct FigurePath: Codable, Hashable, Sendable {
  /// As in `BenchRun.scenario`.
  public var scenario: String

  /// As in `BenchRun.subject`.
  public var subject: String

  /// A key of `BenchRun.figures`; it ends in its unit.
  public var figure: String

  /// A path.
  public init(_ scenario: String, _ subject: String, _ figure: String) {
    self.scenario = scenario
    self.subject = subject
    self.figure = figure
  }
}

/// Why runs, or recorded ratios, cannot be read.
public enum BenchReportError: Error, Equatable, CustomStringConvertible {
  /// No run is on this line, counted from 1.
  case unreadableLine(Int)
  /// The same figure of the same round is there twice, as when the runs of two measurements were put together.
  case measuredTwice(FigurePath, round: Int)
  /// The file of recorded ratios is not one.
  case unreadableRatios

  /// A sentence for whoever has started the report.
  public var description: String {
    switch self {
    case .unreadableLine(let line): "line \(line) is no run of a scenario"
    case .measuredTwice(let path, let round):
      "\(path.figure) of \(path.subject) in \(path.scenario), round \(round), is there twice"
    case .unreadableRatios: "this is no file of recorded ratios"
    }
  }
}
