import Testing

@testable import tacet_bench

@Suite("A histogram of latencies")
struct LatencyHistogramTests {
  @Test("has no latency when it is empty")
  func empty() {
    #expect(LatencyHistogram().figures("accepted", [50, 99]) == ["accepted_p50_ms": 0, "accepted_p99_ms": 0])
    #expect(LatencyHistogram().millisecondsMax == 0)
  }

  @Test("keeps three digits", arguments: [1_000, 123_456, 3_141_592, 59_999_999_999] as [UInt64])
  func digits(nanoseconds: UInt64) {
    var histogram = LatencyHistogram()
    histogram.note(nanoseconds: nanoseconds)
    let error = histogram.milliseconds(at: 50) * 1e6 / Double(nanoseconds) - 1
    // A microsecond is ten of the least that it tells apart.
    #expect(abs(error) <= (nanoseconds == 1_000 ? 0.1 : 0.002))
  }

  @Test("names its figures after their percentile")
  func figures() {
    var histogram = LatencyHistogram()
    for millisecond in 1...100 as ClosedRange<UInt64> { histogram.note(nanoseconds: millisecond * 1_000_000) }
    let figures = histogram.figures("commit", [50, 99]).mapValues { $0.rounded() }
    #expect(figures == ["commit_p50_ms": 50, "commit_p99_ms": 99])
    #expect(histogram.millisecondsMax.rounded() == 100)
  }

  @Test("takes what is longer than it can tell for the longest")
  func longest() {
    var histogram = LatencyHistogram()
    histogram.note(nanoseconds: .max)
    #expect((600_000...601_000).contains(histogram.millisecondsMax))
  }

  @Test("an end before its start is no time", arguments: [(5, 5), (5, 4), (.max, 0)] as [(UInt64, UInt64)])
  func backwards(start: UInt64, end: UInt64) {
    var histogram = LatencyHistogram()
    histogram.note(from: start, to: end)
    #expect(histogram.count == 1)
    #expect(histogram.millisecondsMax == 0)
  }
}
