import TestRandomness
import Testing

@testable import PushRules

@Suite("The beginning of a text")
struct TextBeginningTests {
  /// Of every kind that a careless cut would tear.
  private static let clusters = [
    "a", "é", "e\u{301}", "👨‍👩‍👧‍👦", "👩🏽‍🚀", "🇩🇪", "🇦🇹", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "ที่", "ไทย", "น้ำ", "한", "\u{1112}\u{1161}\u{11AB}", "ن", "نُّ", "שָׁ", "क्षि",
    "\r\n", "\u{2068}", "\u{2069}", "1️⃣", "ა",
  ]

  @Test("is whole clusters, within the bound, and as long as it can be, at every bound", arguments: clusters)
  func everyBound(cluster: String) {
    let text = String(repeating: cluster, count: 6)
    let isControl = cluster.unicodeScalars.allSatisfy { $0.opensIsolate || $0 == "\u{2069}" }
    for bound in 0...text.utf8.count {
      let part = text.beginning(bytesMax: bound)
      #expect(part.utf8.count <= bound)
      if !isControl {
        #expect(text.hasPrefix(part) && part.count == text.prefix(part.count).count)
        #expect(part.utf8.count == text.prefix(part.count).utf8.count)
        #expect(part.count == text.count || text.prefix(part.count + 1).utf8.count > bound)
      }
    }
    #expect(text.beginning(bytesMax: 10_000) == text.closingIsolates)
  }

  @Test("leaves no isolate open and loses no letter, of texts of any clusters", arguments: [1, 2, 3] as [UInt64])
  func anyText(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<1_000 {
      let count = Int.random(in: 1...30, using: &random)
      let text = (0..<count).map { _ in Self.clusters.randomElement(using: &random) ?? "" }.joined()
      let bound = Int.random(in: 0...text.utf8.count + 3, using: &random)
      let part = text.beginning(bytesMax: bound)
      #expect(part.utf8.count <= bound)
      #expect(part.closingIsolates == part)
      let shown = part.unicodeScalars.filter { $0 != "\u{2069}" && !$0.opensIsolate }
      let whole = text.unicodeScalars.filter { $0 != "\u{2069}" && !$0.opensIsolate }
      #expect(whole.starts(with: shown))
    }
  }

  @Test("counts bytes as they are written")
  func width() {
    #expect("\"\"\"".beginning(bytesMax: 5) { $0 == UInt8(ascii: "\"") ? 2 : 1 } == "\"\"")
    #expect("a👍".beginning(bytesMax: 4) == "a")
    #expect("a👍".beginning(bytesMax: 5) == "a👍")
  }

  @Test("a cluster of any size costs no more than the bound")
  func hugeCluster() {
    let text = "a" + String(repeating: "\u{301}", count: 200_000)
    #expect(text.beginning(bytesMax: 100) == "")
    #expect(("b" + text).beginning(bytesMax: 100) == "b")
  }
}
