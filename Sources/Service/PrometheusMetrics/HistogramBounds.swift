/// Bounds of buckets, in seconds, inclusive.
public enum HistogramBounds {
  /// From a millisecond to a minute, for what is nobody's concern to a fraction: three in each power of ten.
  public static let usual: [Double] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
  ]

  /// From a quarter of a millisecond to a minute, for what is promised in milliseconds.
  ///
  /// A quantile that is read from buckets is off by less than the bucket it falls into: a quarter of a millisecond up to
  /// 4 ms, half of one up to 10 ms, one up to 20 ms, and at most a third of itself from there to a minute, where nobody asks
  /// for milliseconds. 73 bounds; a series of them is 7 KB of text and 3 KB of memory.
  public static let fine: [Double] = milliseconds.map { Double($0) / 1000 }

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
