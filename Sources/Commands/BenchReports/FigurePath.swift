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
