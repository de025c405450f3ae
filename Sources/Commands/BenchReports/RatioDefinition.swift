/// A ratio that is recorded, and checked against its record.
public struct RatioDefinition: Codable, Equatable, Sendable {
  /// Which way a regression goes.
  public enum Direction: String, Codable, Sendable {
    case higher, lower
  }

  /// In a few words.
  public let name: String
  /// What stands above the line.
  public let numerator: FigurePath
  /// What stands below the line.
  public let denominator: FigurePath
  /// The direction in which it gets worse.
  public let worse: Direction

  /// A definition.
  public init(_ name: String, _ numerator: FigurePath, over denominator: FigurePath, worse: Direction) {
    self.name = name
    self.numerator = numerator
    self.denominator = denominator
    self.worse = worse
  }

  var quantity: Quantity { .ratio(numerator, over: denominator) }
}
