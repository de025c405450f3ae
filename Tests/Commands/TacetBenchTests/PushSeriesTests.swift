import APNSCore
import Testing

@testable import tacet_bench

@Suite("A series of pushes")
struct PushSeriesTests {
  private let tokens = ["00ff", "11ee", "22dd"]

  private func makeSeries() throws -> PushSeries {
    try PushSeries(to: tokens, ofApp: BundleIdentifier("com.example.app"))
  }

  @Test("devices take turns")
  func turns() throws {
    let series = try makeSeries()
    #expect(try (0..<5).map { try series.request($0).head.deviceToken.hexadecimal } == tokens + tokens[..<2])
  }

  @Test("a push has identifiers of its own, and the same ones when it is built again")
  func identifiers() throws {
    let series = try makeSeries()
    let heads = try (0..<100).map { try series.request($0).head }
    #expect(Set(heads.map(\.identifier)).count == 100)
    #expect(Set(heads.map(\.collapseIdentifier)).count == 100)
    #expect(try series.request(99).head == heads[99])
    #expect(heads.allSatisfy { $0.collapseIdentifier?.text.utf8.count == 36 })
  }

  @Test("two series have nothing in common")
  func runs() throws {
    #expect(try makeSeries().request(0).head.identifier != makeSeries().request(0).head.identifier)
  }

  @Test("bodies are those of a usual message, and equally long")
  func bodies() throws {
    let series = try makeSeries()
    let sizes = try Set((0..<100).map { try series.request($0).body.count })
    #expect(sizes == [series.bodyBytes])
    #expect((220...280).contains(series.bodyBytes))
  }

  @Test("a malformed device token is found before anything is sent")
  func malformed() {
    #expect(throws: PushRequestError.self) {
      try PushSeries(to: ["00ff", "0g"], ofApp: BundleIdentifier("com.example.app"))
    }
  }
}
