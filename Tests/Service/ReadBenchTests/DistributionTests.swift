import Testing

@testable import ReadBench

@Suite("Distributions")
struct DistributionTests {
  @Test("of nothing there is none")
  func empty() {
    #expect(Distribution([]) == nil)
  }

  @Test(
    "the nearest rank, rounded up",
    arguments: [
      ([7], 7, 7, 7),
      ([2, 1], 1, 2, 2),
      ([3, 1, 2], 2, 3, 3),
      (Array(1...99), 50, 99, 99),
      (Array(1...100), 50, 99, 100),
      (Array((1...101).reversed()), 51, 100, 101),
      (Array(1...200), 100, 198, 200),
    ] as [([Int64], Int64, Int64, Int64)])
  func ranks(_ values: [Int64], _ p50: Int64, _ p99: Int64, _ most: Int64) throws {
    let distribution = try #require(Distribution(values))
    #expect(distribution.count == values.count)
    #expect([distribution.p50, distribution.p99, distribution.most] == [p50, p99, most])
  }
}
