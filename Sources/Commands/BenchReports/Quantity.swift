/// Something that is judged: a figure, or one figure over another.
public enum Quantity: Hashable, Sendable {
  case figure(FigurePath)
  case ratio(FigurePath, over: FigurePath)

  /// A value for each round in which it was measured.
  ///
  /// A ratio is taken within each round, because what disturbs a machine disturbs both of its figures; rounds that lack
  /// either, or have 0 below the line, have none.
  public func values(in runs: BenchRuns) -> [Double] {
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
  public func spread(in runs: BenchRuns) -> Spread? {
    Spread(values(in: runs))
  }
}
