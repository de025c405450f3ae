/// What a measured value must keep; the bound itself still does.
public enum Bound: Equatable, Sendable {
  case atMost(Double)
  case atLeast(Double)

  /// Whether a value keeps it.
  public func holds(for value: Double) -> Bool {
    switch self {
    case .atMost(let highest): value <= highest
    case .atLeast(let lowest): value >= lowest
    }
  }

  /// Such as `<= 3.5`.
  public var text: String {
    switch self {
    case .atMost(let highest): "<= \(Decimals.plain(highest))"
    case .atLeast(let lowest): ">= \(Decimals.plain(lowest))"
    }
  }
}
