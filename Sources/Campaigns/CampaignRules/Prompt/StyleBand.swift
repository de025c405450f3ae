/// Which end of a style's dimension a value leans to.
enum StyleBand: Equatable {
  case first, balanced, second

  /// The greatest value that leans to the first end, inclusive.
  static let firstMax = 0.35
  /// The least value that leans to the second end, inclusive. The three tenths between ask for nothing: that is a slider
  /// left near its centre.
  static let secondMin = 0.65

  /// The band of a value in 0...1; balanced when it is unknown.
  init(_ value: Double?) {
    switch value {
    case .some(...Self.firstMax): self = .first
    case .some(Self.secondMin...): self = .second
    default: self = .balanced
    }
  }
}
