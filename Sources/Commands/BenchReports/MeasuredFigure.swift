/// A figure over all rounds.
public struct MeasuredFigure: Sendable, Equatable {
  /// Which figure.
  public let path: FigurePath
  /// Over its rounds.
  public let spread: Spread

  init?(_ path: FigurePath, in runs: BenchRuns) {
    guard let spread = Quantity.figure(path).spread(in: runs) else { return nil }
    self.path = path
    self.spread = spread
  }
}
