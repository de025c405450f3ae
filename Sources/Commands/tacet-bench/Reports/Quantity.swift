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
