import CoreMetrics
import Dispatch
import Testing

@testable import PrometheusMetrics

@Suite("What is counted in")
struct MetricCellsTests {
  @Test("a counter grows by what is positive alone")
  func counter() {
    let cell = CounterCell()
    for amount in [1, 5, 0, -3] as [Int64] { cell.increment(by: amount) }
    #expect(cell.value == 6)
    cell.reset()
    #expect(cell.value == 0)
  }

  @Test("a gauge has its latest value")
  func gauge() {
    let cell = GaugeCell()
    #expect(cell.value == 0)
    cell.record(2.5)
    #expect(cell.value == 2.5)
    cell.record(Int64(-7))
    #expect(cell.value == -7)
    cell.set(Int64(3))
    cell.increment(by: 1.5)
    cell.decrement(by: 4)
    #expect(cell.value == 0.5)
    cell.set(2.5)
    #expect(cell.value == 2.5)
  }

  @Test(
    "an observation falls into the bucket of the least bound that it does not exceed",
    arguments: [
      (-1, 0), (0, 0), (0.9, 0), (1, 0), (1.0000001, 1), (2, 1), (2.1, 2), (4, 2), (4.1, 3), (.infinity, 3),
      (-.infinity, 0),
    ] as [(Double, Int)])
  func buckets(_ value: Double, _ bucket: Int) {
    let cell = HistogramCell(bounds: [1, 2, 4])
    cell.record(value)
    #expect(cell.figures.counts.firstIndex(of: 1) == bucket)
    #expect(cell.figures.counts.reduce(0, +) == 1)
    #expect(cell.figures.sum == value)
  }

  @Test("a time on a bound is within it, a nanosecond more is not")
  func edges() {
    for bound in HistogramBounds.fine {
      let cell = HistogramCell(bounds: [bound])
      let nanoseconds = Int64((bound * 1e9).rounded())
      cell.recordNanoseconds(nanoseconds)
      cell.recordNanoseconds(nanoseconds + 1)
      #expect(cell.figures.counts == [1, 1], "\(bound)")
    }
  }

  @Test("what is no number is not counted")
  func noNumber() {
    let cell = HistogramCell(bounds: [1])
    cell.record(.nan)
    #expect(cell.figures == HistogramFigures(bounds: [1], counts: [0, 0], sum: 0))
  }

  @Test("without bounds everything is above")
  func boundless() {
    let cell = HistogramCell(bounds: [])
    cell.record(Int64(3))
    #expect(cell.figures == HistogramFigures(bounds: [], counts: [1], sum: 3))
  }

  @Test("nothing is lost when many threads count at once")
  func threads() {
    let (counter, histogram) = (CounterCell(), HistogramCell(bounds: [0.5, 1.5]))
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for number in 0..<10_000 {
        counter.increment(by: 1)
        histogram.record(Int64(number % 2))
      }
    }
    #expect(counter.value == 80_000)
    #expect(histogram.figures.counts == [40_000, 40_000, 0])
    #expect(histogram.figures.sum == 40_000)
  }
}
