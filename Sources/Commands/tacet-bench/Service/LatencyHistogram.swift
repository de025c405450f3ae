import Histogram

/// Latencies to three digits, from 100 nanoseconds to ten minutes; longer ones count as ten minutes.
struct LatencyHistogram: Sendable {
  private static let nanosecondsMax: UInt64 = 600_000_000_000

  private var histogram = Histogram<UInt32>(
    lowestDiscernibleValue: 100, highestTrackableValue: LatencyHistogram.nanosecondsMax)

  var count: Int { Int(histogram.totalCount) }

  /// Notes the time between two moments; 0 when the end is before the start.
  mutating func note(from start: UInt64, to end: UInt64) {
    note(nanoseconds: end > start ? end - start : 0)
  }

  mutating func note(nanoseconds: UInt64) {
    histogram.record(min(nanoseconds, Self.nanosecondsMax))
  }

  /// The latency that this many of a hundred do not exceed; 0 when there are none.
  func milliseconds(at percentile: Double) -> Double {
    count == 0 ? 0 : Double(histogram.valueAtPercentile(percentile)) / 1e6
  }

  /// The longest; 0 when there are none.
  var millisecondsMax: Double { count == 0 ? 0 : Double(histogram.max) / 1e6 }

  /// Figures named after their percentile, such as `accepted_p50_ms`.
  func figures(_ name: String, _ percentiles: [Int]) -> [String: Double] {
    Dictionary(uniqueKeysWithValues: percentiles.map { ("\(name)_p\($0)_ms", milliseconds(at: Double($0))) })
  }
}
