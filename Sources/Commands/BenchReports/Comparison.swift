/// The same figure of two subjects: the first over the second, round by round.
public struct Comparison: Sendable, Equatable, Encodable {
  /// Of both.
  public let scenario: String
  /// Of both.
  public let figure: String
  /// The subject above the line.
  public let above: String
  /// The subject below the line.
  public let below: String
  /// Over the rounds that have both.
  public let spread: Spread

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

  /// Every figure of every subject that is compared with `tacet`, in the order of the runs.
  ///
  /// What was asked for, and what must be nothing, is no comparison.
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
