import FoundationEssentials

/// The runs of a measurement by figure.
struct BenchRuns: Sendable {
  /// All figures, in the order in which scenarios and subjects first appear, then by name.
  private(set) var paths: [FigurePath] = []

  private var rounds: [FigurePath: [Int: Double]] = [:]

  /// - Throws: `measuredTwice`.
  init(_ runs: [BenchRun]) throws(BenchReportError) {
    for run in runs {
      for (figure, value) in run.figures.sorted(by: { $0.key < $1.key }) {
        let path = FigurePath(run.scenario, run.subject, figure)
        if rounds[path] == nil { paths.append(path) }
        let before = rounds[path, default: [:]].updateValue(value, forKey: run.round)
        guard before == nil else { throw .measuredTwice(path, round: run.round) }
      }
    }
  }

  /// A run on each line, as JSON. Empty lines are ignored.
  /// - Throws: `unreadableLine`, `measuredTwice`.
  init(lines text: String) throws(BenchReportError) {
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

  /// A figure by its round; empty when it was not measured.
  func values(of path: FigurePath) -> [Int: Double] { rounds[path] ?? [:] }
}

/// The figures of one run of a scenario: a line of JSON, which measurements print and reports read.
struct BenchRun: Codable, Sendable, Equatable {
  /// Such as `messages-300`; deploy/bench has the list.
  var scenario: String
  /// `tacet`, another database or build, or a reference such as `h2load`.
  var subject: String
  /// From 1. The runs of a round were measured one after the other, in changing order.
  var round: Int
  /// By names that end in their unit, such as `accepted_p50_ms`.
  var figures: [String: Double]
}

/// Which figure: of which scenario, measured on which subject.
struct FigurePath: Codable, Hashable, Sendable {
  var scenario: String
  var subject: String
  /// A key of `BenchRun.figures`.
  var figure: String

  init(_ scenario: String, _ subject: String, _ figure: String) {
    self.scenario = scenario
    self.subject = subject
    self.figure = figure
  }

  /// A figure of this build, on a database with almost no history.
  init(_ scenario: String, _ figure: String) {
    self.init(scenario, "tacet", figure)
  }
}

/// Why runs or recorded ratios cannot be read.
enum BenchReportError: Error, Equatable, CustomStringConvertible {
  /// This line, counted from 1, is not a run.
  case unreadableLine(Int)
  /// A figure of a round occurs twice, for example because the runs of two measurements were combined.
  case measuredTwice(FigurePath, round: Int)
  /// The file has no recorded ratios.
  case unreadableRatios

  var description: String {
    switch self {
    case .unreadableLine(let line): "line \(line) is no run of a scenario"
    case .measuredTwice(let path, let round):
      "\(path.figure) of \(path.subject) in \(path.scenario), round \(round), is there twice"
    case .unreadableRatios: "this is no file of recorded ratios"
    }
  }
}

/// A judged value: a figure, or a ratio of two figures.
enum Quantity: Hashable, Sendable {
  case figure(FigurePath)
  case ratio(FigurePath, over: FigurePath)

  /// A value for each round in which it was measured.
  ///
  /// A ratio is taken within each round, because a disturbance of the machine affects both figures. Rounds without
  /// either figure, or with a denominator of 0, have no ratio.
  func values(in runs: BenchRuns) -> [Double] {
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
  func spread(in runs: BenchRuns) -> Spread? { Spread(values(in: runs)) }
}

/// The median and range of repeated measurements.
struct Spread: Codable, Equatable, Sendable {
  /// The middle value; for an even count the mean of the two middle ones.
  let median: Double
  let lowest: Double
  let highest: Double
  /// Measurements, from 1.
  let count: Int

  init?(_ values: some Sequence<Double>) {
    let sorted = values.sorted()
    guard let lowest = sorted.first, let highest = sorted.last else { return nil }
    self.lowest = lowest
    self.highest = highest
    count = sorted.count
    median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }

  /// `1.25 (1.10 … 1.31)`; for a single measurement its value.
  var text: String {
    guard count > 1 else { return Decimals.measured(median) }
    return "\(Decimals.measured(median)) (\(Decimals.measured(lowest)) … \(Decimals.measured(highest)))"
  }
}

/// Numbers for people.
enum Decimals {
  /// Three significant digits, and all digits before the point: `0.0123`, `1.23`, `45.6`, `12345`.
  static func measured(_ value: Double) -> String {
    switch value.magnitude {
    case 100...: fixed(value, digits: 0)
    case 10...: fixed(value, digits: 1)
    case 1...: fixed(value, digits: 2)
    default: fixed(value, digits: 3)
    }
  }

  /// Without a point when the fraction is zero.
  static func plain(_ value: Double) -> String {
    value == value.rounded() && value.magnitude < 1e15 ? String(Int(value)) : String(value)
  }

  /// Rounded half away from zero.
  static func fixed(_ value: Double, digits: Int) -> String {
    guard value.isFinite, value.magnitude < 1e12 else { return "\(value)" }
    let factor = (0..<digits).reduce(1) { product, _ in product * 10 }
    let scaled = Int((value.magnitude * Double(factor)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(scaled)" }
    let fraction = String(scaled % factor)
    return "\(sign)\(scaled / factor).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
  }
}
