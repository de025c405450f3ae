import BenchReports
import Testing

@Suite("Spreads")
struct SpreadTests {
  @Test(
    "the median is the middle, or the mean of both middles",
    arguments: [
      ([3], 3, 3, 3), ([3, 1], 2, 1, 3), ([9, 1, 2], 2, 1, 9), ([4, 1, 9, 2], 3, 1, 9), ([0, 0, 0], 0, 0, 0),
    ] as [([Double], Double, Double, Double)])
  func middle(values: [Double], median: Double, lowest: Double, highest: Double) throws {
    let spread = try #require(Spread(values))
    #expect(spread.median == median)
    #expect(spread.lowest == lowest)
    #expect(spread.highest == highest)
    #expect(spread.count == values.count)
  }

  @Test("nothing has no spread")
  func nothing() {
    #expect(Spread([]) == nil)
  }

  @Test(
    "the relative spread is a share of the median",
    arguments: [([8, 10, 12], 0.4), ([5], 0), ([0, 0], 0)] as [([Double], Double)])
  func relative(values: [Double], share: Double) throws {
    #expect(try #require(Spread(values)).relative == share)
  }
}
