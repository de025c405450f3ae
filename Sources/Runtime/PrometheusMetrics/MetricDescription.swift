/// What is known of a family before anything is counted: its help, the bounds of its buckets, and how many series it may
/// have.
package struct MetricDescription: Sendable {
  /// The series that a family has at the most unless it says otherwise. With the one for all others it is the most that a
  /// mistake with a label can cost.
  package static let seriesMaxDefault = 64

  /// As the code that counts names it.
  package let name: String

  package let help: String

  /// What the family is; nothing else may be made of its name.
  package let kind: MetricFamily.Kind

  /// Of a histogram, in its unit, ascending.
  package let bounds: [Double]

  /// Series that are counted separately; all beyond are counted together, with `other` as every label's value.
  package let seriesMax: Int

  /// Describes a counter or a gauge.
  package init(
    _ name: String, _ help: String, _ kind: MetricFamily.Kind, seriesMax: Int = seriesMaxDefault
  ) {
    self.init(name, help, kind, bounds: HistogramBounds.usual, seriesMax: seriesMax)
  }

  package init(_ name: String, _ help: String, bounds: [Double], seriesMax: Int = seriesMaxDefault) {
    self.init(name, help, .histogram, bounds: bounds, seriesMax: seriesMax)
  }

  private init(_ name: String, _ help: String, _ kind: MetricFamily.Kind, bounds: [Double], seriesMax: Int) {
    precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "the bounds of \(name) do not ascend")
    precondition(seriesMax > 0, "\(name) has room for no series")
    self.name = MetricName.family(name)
    self.help = help
    self.kind = kind
    self.bounds = bounds
    self.seriesMax = seriesMax
  }
}

/// Bounds of buckets, in seconds, inclusive.
package enum HistogramBounds {
  /// From a millisecond to a minute, for what needs no precision: three in each power of ten.
  package static let usual: [Double] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
  ]

  /// From a quarter of a millisecond to a minute, for what is promised in milliseconds.
  ///
  /// A quantile that is read from buckets is off by less than the bucket it falls into: a quarter of a millisecond up to
  /// 4 ms, half of one up to 10 ms, one up to 20 ms, and at most a third of itself from there to a minute, where
  /// milliseconds do not matter. 73 bounds; a series of them is 7 KB of text and 3 KB of memory.
  package static let fine: [Double] = milliseconds.map { Double($0) / 1000 }

  private static let milliseconds: [Double] =
    steps(of: 0.25, to: 4) + steps(of: 0.5, from: 4, to: 10) + steps(of: 1, from: 10, to: 20)
    + [25, 30, 40, 50, 60, 80] + decade(100) + decade(1000) + [10000, 12500, 15000, 20000, 25000, 30000, 40000, 50000]
    + [60000]

  private static func steps(of width: Double, from start: Double = 0, to end: Double) -> [Double] {
    (1...Int(((end - start) / width).rounded())).map { start + Double($0) * width }
  }

  private static func decade(_ start: Double) -> [Double] {
    [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8].map { $0 * start }
  }
}
