/// What many measurements come to.
public struct Distribution: Encodable, Equatable, Sendable {
  /// How many there were; never zero.
  public let count: Int
  /// The smallest value that half of them do not exceed.
  public let p50: Int64
  /// The smallest value that 99 of 100 do not exceed: the largest one of fewer than 100.
  public let p99: Int64
  /// The largest value.
  public let most: Int64

  /// Sorts the values; nil without any.
  public init?(_ values: [Int64]) {
    let sorted = values.sorted()
    guard let most = sorted.last else { return nil }
    count = sorted.count
    p50 = Self.value(in: sorted, hundredths: 50)
    p99 = Self.value(in: sorted, hundredths: 99)
    self.most = most
  }

  /// The nearest rank, rounded up.
  private static func value(in sorted: [Int64], hundredths: Int) -> Int64 {
    sorted[(sorted.count * hundredths + 99) / 100 - 1]
  }
}
