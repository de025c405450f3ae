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

package enum BenchScenario {
  package static func messages(_ rate: Int) -> String { "messages-\(rate)" }
  package static func fanout(_ recipients: Int) -> String { "fanout-\(recipients)" }

  /// The highest rate at which 99 of 100 messages are accepted within 100 ms.
  package static let sustained = "sustained"
  package static let burst = "burst-10000"
  /// The start of the service, and its idle footprint.
  package static let start = "start"
  /// The APNs client beside h2load.
  package static let client = "apns-client"
  /// The HTTP server beside nginx.
  package static let server = "http-server"
  /// Inserts of a host at a rate, without the service: the reference of the messages at that rate.
  package static func inserts(_ rate: Int) -> String { "inserts-\(rate)" }

  package static let all =
    [50, 300, 1000].map(messages) + [1, 10, 100, 1000, 5000].map(fanout) + [sustained, burst, start, client, server]
    + [300, 1000].map(inserts)
}

package enum BenchSubject {
  /// This build, on a database with almost no history.
  package static let tacet = "tacet"
  /// Another build, on a separate database with as little history.
  package static let against = "against"
  /// The reference of the APNs client.
  package static let h2load = "h2load"
  /// The reference of the HTTP server.
  package static let nginx = "nginx"
  /// The reference of the database and its clients.
  package static let pgbench = "pgbench"
  /// This build on a database with ten million rows of history.
  package static let tenMillionRows = "rows-10m"
  package static let millionRows = "rows-1m"
  /// The same with a hundred thousand, in quick measurements.
  package static let hundredThousandRows = "rows-100k"

  /// Databases with history, each compared with `tacet`.
  static let grown: Set<String> = [tenMillionRows, millionRows, hundredThousandRows]

  /// The numerator and denominator of a comparison with `tacet`; nil for no comparison. A database with history is
  /// above one without, and this build is above everything else.
  static func ratio(of subject: String, in subjects: Set<String>) -> (above: String, below: String)? {
    guard subject != tacet, subjects.contains(tacet) else { return nil }
    return grown.contains(subject) ? (subject, tacet) : (tacet, subject)
  }
}

/// A judged value: a figure, or a ratio of two figures.
package enum Quantity: Hashable, Sendable {
  case figure(FigurePath)
  case ratio(FigurePath, over: FigurePath)

  /// A value for each round in which it was measured.
  ///
  /// A ratio is taken within each round, because a disturbance of the machine affects both figures. Rounds without
  /// either figure, or with a denominator of 0, have no ratio.
  package func values(in runs: BenchRuns) -> [Double] {
    switch self {
    case .figure(let path):
      return runs.values(of: path).sorted { $0.key < $1.key }.map(\.value)
    case .ratio(let path, let other):
      let below = runs.values(of: other)
      return runs.values(of: path).sorted { $0.key < $1.key }.compactMap { round, value in
        below[round].flatMap { $0 == 0 ? nil : value / $0 }
      }
    }
  }

  /// - Returns: `nil` when it was not measured.
  package func spread(in runs: BenchRuns) -> Spread? {
    Spread(values(in: runs))
  }
}

/// The median and range of repeated measurements.
package struct Spread: Codable, Equatable, Sendable {
  /// The middle value; for an even count the mean of the two middle ones.
  package let median: Double
  package let lowest: Double
  package let highest: Double
  /// Measurements, from 1.
  package let count: Int

  package init?(_ values: some Sequence<Double>) {
    let sorted = values.sorted()
    guard let lowest = sorted.first, let highest = sorted.last else { return nil }
    self.lowest = lowest
    self.highest = highest
    count = sorted.count
    median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }

  package var relative: Double { median == 0 ? 0 : (highest - lowest) / median }
}

/// A figure over all rounds.
package struct MeasuredFigure: Sendable, Equatable {
  package let path: FigurePath
  package let spread: Spread

  init?(_ path: FigurePath, in runs: BenchRuns) {
    guard let spread = Quantity.figure(path).spread(in: runs) else { return nil }
    self.path = path
    self.spread = spread
  }
}

/// The ratio of two subjects' figures, round by round.
package struct Comparison: Sendable, Equatable, Encodable {
  package let scenario: String
  package let figure: String
  /// The subject of the numerator.
  package let above: String
  /// The subject of the denominator.
  package let below: String
  /// Over the rounds with both.
  package let spread: Spread

  init?(_ figure: String, of scenario: String, _ above: String, over below: String, in runs: BenchRuns) {
    let quantity = Quantity.ratio(
      FigurePath(scenario, above, figure), over: FigurePath(scenario, below, figure))
    guard let spread = quantity.spread(in: runs) else { return nil }
    self.scenario = scenario
    self.figure = figure
    self.above = above
    self.below = below
    self.spread = spread
  }

  /// All comparisons with `tacet`, in the order of the runs. Inputs, and figures that must be 0, are excluded.
  static func all(in runs: BenchRuns) -> [Comparison] {
    let subjects = Dictionary(grouping: runs.paths, by: \.scenario).mapValues { Set($0.map(\.subject)) }
    return runs.paths.filter { !given.contains($0.figure) }.compactMap { path in
      BenchSubject.ratio(of: path.subject, in: subjects[path.scenario] ?? []).flatMap {
        Comparison(path.figure, of: path.scenario, $0.above, over: $0.below, in: runs)
      }
    }
  }

  private static let given: Set<String> = ["offered_per_second", "pushes", "lost", "doubled"]
}
