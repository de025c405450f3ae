/// A target, and what was measured of it.
public struct Verdict: Sendable, Equatable {
  /// Whether the target was met.
  public enum Outcome: String, Encodable, Sendable {
    case met, missed
    /// The measurement had no scenario for it.
    case unmeasured = "not measured"
  }

  /// What was to be shown.
  public let target: Target
  /// `nil` when it was not measured.
  public let spread: Spread?

  /// Judges by the median.
  init(_ target: Target, in runs: BenchRuns) {
    self.target = target
    spread = target.quantity.spread(in: runs)
  }

  /// By the median.
  public var outcome: Outcome {
    guard let spread else { return .unmeasured }
    return target.bound.holds(for: spread.median) ? .met : .missed
  }
}
