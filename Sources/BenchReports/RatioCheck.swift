/// A recorded ratio, and what has become of it.
public struct RatioCheck: Sendable, Equatable {
  /// What has become of it.
  public enum Outcome: String, Encodable, Sendable {
    case kept
    /// Worse by more than `tolerancePercent`.
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

  /// Compares medians.
  public init(_ record: RecordedRatio, in runs: BenchRuns) {
    self.record = record
    measured = record.ratio.quantity.spread(in: runs)
  }

  /// By medians.
  public var outcome: Outcome {
    guard let measured else { return .missing }
    let recorded = record.recorded.median
    let isWorse =
      switch record.ratio.worse {
      case .higher: measured.median * 100 > recorded * (100 + Self.tolerancePercent)
      case .lower: measured.median * 100 < recorded * (100 - Self.tolerancePercent)
      }
    return isWorse ? .regressed : .kept
  }

  /// The measured median over the recorded one; `nil` when the runs lack it.
  public var change: Double? {
    measured.map { $0.median / record.recorded.median }
  }
}
