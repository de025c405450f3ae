/// What repeated measurements of one thing say: the middle, and how far they lie apart.
public struct Spread: Codable, Equatable, Sendable {
  /// The value in the middle; of an even number, the mean of the two in the middle.
  public let median: Double
  /// The lowest value.
  public let lowest: Double
  /// The highest value.
  public let highest: Double
  /// Measurements, from 1.
  public let count: Int

  /// - Returns: `nil` without values.
  public init?(_ values: some Sequence<Double>) {
    let sorted = values.sorted()
    guard let lowest = sorted.first, let highest = sorted.last else { return nil }
    self.lowest = lowest
    self.highest = highest
    count = sorted.count
    median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }

  /// How far lowest and highest lie apart, as a share of the median.
  public var relative: Double { median == 0 ? 0 : (highest - lowest) / median }
}
