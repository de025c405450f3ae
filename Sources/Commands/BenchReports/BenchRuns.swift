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
