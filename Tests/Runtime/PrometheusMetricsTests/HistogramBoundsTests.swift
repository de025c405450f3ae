import Testing

@testable import PrometheusMetrics

@Suite("Bounds of buckets")
struct HistogramBoundsTests {
  @Test("they ascend and end at a minute", arguments: [HistogramBounds.usual, HistogramBounds.fine])
  func ascend(_ bounds: [Double]) {
    #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
    #expect(bounds.last == 60)
  }

  @Test("the fine ones are as near as their promise says, on both sides of each edge")
  func steps() {
    let bounds = HistogramBounds.fine
    #expect(bounds.count == 73)
    #expect(bounds.first == 0.00025)
    for (low, high) in zip(bounds, bounds.dropFirst()) {
      let widest =
        switch high {
        case ...0.004: 0.00025
        case ...0.01: 0.0005
        case ...0.02: 0.001
        default: low * 0.34
        }
      #expect(high - low <= widest + 1e-12, "\(low) to \(high)")
    }
  }
}
