import Channels
import Foundation
import PushRules
import Testing

@testable import tacet_bench

@Suite("The report of a load")
struct LoadReportTests {
  @Test(
    "a percentile is the smallest latency that the share of all does not exceed",
    arguments: [
      (0.5, [], 0), (0.5, [7], 7), (0.99, [7], 7),
      (0.5, [1, 2], 1), (0.5, [1, 2, 3], 2), (0.51, [1, 2], 2),
      (0.99, Array(1...100), 99), (0.991, Array(1...100), 100), (1, Array(1...100), 100),
    ] as [(Double, [UInt64], Double)])
  func percentiles(share: Double, milliseconds: [UInt64], expected: Double) {
    #expect(LoadReport.milliseconds(at: share, of: milliseconds.map { $0 * 1_000_000 }) == expected)
  }

  @Test("rates and costs are those of the pushes that ended")
  func figures() {
    var books = LoadBooks()
    for latency in [3_000_000, 1_000_000, 2_000_000, 4_000_000] as [UInt64] { books.record(latency: latency) }
    let report = report(books)
    #expect(report.pushes == 4)
    #expect(report.pushesPerSecond == 2)
    #expect(report.cpuMicrosecondsPerPush == 10)
    #expect(report.cpuMicrosecondsComposing == 2)
    #expect(report.latencyMillisecondsP50 == 2)
    #expect(report.latencyMillisecondsP99 == 4)
  }

  @Test("as JSON it is one line with the names that scripts look for")
  func json() throws {
    var books = LoadBooks()
    _ = books.record(.answered(PushAnswer(status: 200)))
    books.resends = 3
    books.lost = 1
    let text = try report(books).json()
    #expect(!text.contains("\n"))
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(object["statuses"] as? [String: Int] == ["200": 1])
    for (name, value) in ["resends": 3, "lost": 1, "body_bytes": 250, "connections_opened": 5] {
      #expect(object[name] as? Int == value)
    }
    for name in [
      "pushes_per_second", "cpu_microseconds_per_push", "cpu_microseconds_composing", "latency_milliseconds_p99",
      "failures",
    ] {
      #expect(object[name] != nil)
    }
  }

  private func report(_ books: LoadBooks) -> LoadReport {
    LoadReport(
      books, spent: ProcessUsage(monotonic: 2_000_000_000, processor: 40_000),
      composing: ProcessUsage(monotonic: 9000, processor: 8000), bodyBytes: 250, connectionsOpened: 5)
  }
}
