/// A recorded ratio, and what has become of it.
public struct RatioCheck: Sendable, Equatable {
  /// What has become of it.
  public enum Outcome: String, Encodable, Sendable {
    case kept
    /// Worse by more than `tolerancePercent`, and worse in every round than in any of the record.
    case regressed
    /// The runs lack one of its figures.
    case missing
  }

  /// How much worse than recorded a ratio may be, as a part of the record; exactly as much is none.
  public static let tolerancePercent = 15.0

  /// The ratio and its record.
  public let record: RecordedRatio
  /// `nil` when the runs lack it.
  public let measured: Spread?

  /// Compares medians and spreads.
  public init(_ record: RecordedRatio, in runs: BenchRuns) {
    self.record = record
    measured = record.ratio.quantity.spread(in: runs)
  }

  /// A median moves with whatever else the machine does; a slower program is slower in every round.
  public var outcome: Outcome {
    guard let measured else { return .missing }
    let recorded = record.recorded
    let isWorse =
      switch record.ratio.worse {
      case .higher:
        measured.median * 100 > recorded.median * (100 + Self.tolerancePercent) && measured.lowest > recorded.highest
      case .lower:
        measured.median * 100 < recorded.median * (100 - Self.tolerancePercent) && measured.highest < recorded.lowest
      }
    return isWorse ? .regressed : .kept
  }

  /// The measured median over the recorded one; `nil` when the runs lack it.
  public var change: Double? {
    measured.map { $0.median / record.recorded.median }
  }
}
