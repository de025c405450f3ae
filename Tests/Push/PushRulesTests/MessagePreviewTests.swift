import TestRandomness
import Testing

@testable import PushRules

private func body(of text: String) -> String {
  MessagePreview(senderName: "Ana", text: text).body
}

private func title(for name: String?) -> String {
  MessagePreview(senderName: name, text: "hi").title
}

@Suite("The body of a message preview")
struct MessagePreviewBodyTests {
  @Test(
    "one cluster counts as one character, whatever it is made of",
    arguments: [
      "a", "é", "e\u{301}", "👨‍👩‍👧‍👦", "👩🏽‍❤️‍💋‍👨🏿", "🇩🇪", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "각", "\u{1100}\u{1161}\u{11A8}", "नि", "👍🏾",
      "👨🏻‍👩🏽‍👧🏿‍👦🏾",
    ])
  func clusterEdges(cluster: String) {
    #expect(cluster.count == 1)
    for count in [1, 49, 50] {
      let text = String(repeating: cluster, count: count)
      #expect(body(of: text) == text)
    }
    for count in [51, 52, 5000] {
      #expect(body(of: String(repeating: cluster, count: count)) == String(repeating: cluster, count: 50) + "...")
    }
  }

  @Test("a mixed text is cut after its fiftieth cluster")
  func mixed() {
    let text = String(repeating: "a🇫🇷e\u{301}👨‍👩‍👧‍👦각", count: 10)
    #expect(body(of: text) == text)
    #expect(body(of: text + "z") == text + "...")
    #expect(body(of: "z" + text) == "z" + text.dropLast() + "...")
  }

  @Test(
    "a line break or control character becomes one space and counts as one character",
    arguments: ["\n", "\r", "\r\n", "\t", "\u{0}", "\u{1B}", "\u{7F}", "\u{85}", "\u{2028}", "\u{2029}"])
  func controls(control: String) {
    #expect(body(of: "a\(control)b") == "a b")
    let text = String(repeating: control == "\r" ? "\r\u{7}" : control, count: 60)
    #expect(body(of: text) == String(repeating: " ", count: 50) + "...")
  }

  @Test("plain characters are counted up to one that begins what is not plain")
  func plainThenNot() {
    let plain = String(repeating: "x", count: 49)
    #expect(body(of: plain + "y\u{301}") == plain + "y\u{301}")
    #expect(body(of: plain + "y\u{301}z") == plain + "y\u{301}...")
    #expect(body(of: plain + "yz\u{301}") == plain + "y...")
    #expect(body(of: plain + "y\n") == plain + "y...")
    #expect(body(of: plain + "\nz") == plain + " ...")
  }

  @Test("spaces are kept as they are")
  func spaces() {
    #expect(body(of: "  a  b ") == "  a  b ")
  }

  @Test("an empty text stays empty")
  func empty() {
    #expect(body(of: "") == "")
  }

  @Test(
    "a text is never torn at the byte limit, nor is the limit passed",
    arguments: [2_398, 2_399, 2_400, 2_401, 5_000_000])
  func hugeCluster(bytes: Int) {
    // One cluster of that many bytes, after another.
    let text = "x" + "a" + String(repeating: "\u{301}", count: bytes / 2)
    let preview = body(of: text)
    #expect(preview == (text.utf8.count <= MessagePreview.bodyBytesMax ? text : "x..."))
  }

  @Test("a single endless cluster leaves only the continuation")
  func endlessCluster() {
    #expect(body(of: "a" + String(repeating: "\u{301}", count: 100_000)) == "...")
  }

  @Test("a multi-byte scalar on the byte limit is left out whole")
  func scalarOnLimit() {
    // 48 clusters of 50 bytes are 2,400 bytes; each shift moves the limit into another byte of a scalar.
    for shift in 0...4 {
      let cluster = "a" + String(repeating: "\u{1F3FB}", count: 12) + "b"
      let text = String(repeating: "x", count: shift) + String(repeating: cluster, count: 70)
      let preview = body(of: text)
      #expect(preview.hasSuffix("..."))
      #expect(text.hasPrefix(preview.dropLast(3)))
      #expect(preview.utf8.count <= MessagePreview.bodyBytesMax + 3)
    }
  }
}

@Suite("The title of a message preview")
struct MessagePreviewTitleTests {
  @Test("it names the sender")
  func name() {
    #expect(title(for: "Ana") == "Message from Ana")
  }

  @Test("without a name it says only that there is a message", arguments: [nil, "", "   ", "\n\t", "\u{0}"])
  func nameless(name: String?) {
    #expect(title(for: name) == "New message")
  }

  @Test("a name cannot draw a second line, and loses the space around it")
  func nameWithLineBreaks() {
    #expect(title(for: " Ana\nBank\r\nof x\t") == "Message from Ana Bank of x")
  }

  @Test("an endless name is cut")
  func longName() {
    let name = String(repeating: "n", count: 80)
    #expect(title(for: name) == "Message from " + name)
    #expect(title(for: name + "n") == "Message from " + name + "...")
    #expect(title(for: String(repeating: "👨‍👩‍👧‍👦", count: 1_000)).utf8.count <= 13 + MessagePreview.nameBytesMax + 3)
  }
}

@Suite("Notice preview")
struct NoticePreviewTests {
  @Test(
    "a title is cut after 100 clusters, a body after 200",
    arguments: [("a", 1), ("é", 2), ("👨‍👩‍👧", 18)])
  func clusters(_ cluster: String, _ bytes: Int) {
    for (count, bytesMax, preview) in [
      (100, NoticePreview.titleBytesMax, { NoticePreview(title: $0, body: "").title }),
      (200, NoticePreview.bodyBytesMax, { NoticePreview(title: "", body: $0).body }),
    ] as [(Int, Int, (String) -> String)] {
      let whole = String(repeating: cluster, count: min(count, bytesMax / bytes))
      #expect(preview(whole) == whole)
      #expect(preview(whole + cluster) == whole + "...")
    }
  }

  @Test("both are one line, and empty ones stay empty")
  func lines() {
    #expect(NoticePreview(title: "a\nb", body: "c\r\nd\u{0}e") == NoticePreview(title: "a b", body: "c d e"))
    #expect(NoticePreview(title: "", body: "").title == "")
    #expect(NoticePreview(title: "", body: "").body == "")
  }
}

@Suite("Texts with inserted values")
struct FilledTextTests {
  private func filled(_ parts: (String, Bool)...) -> String {
    var text = FilledText()
    for (part, isValue) in parts { if isValue { text.append(value: part) } else { text.append(words: part) } }
    return text.text
  }

  @Test(
    "a value is isolated where letters of both directions meet, and nowhere else",
    arguments: [
      ("Message from ", "Ann", "Message from Ann"), ("Message from ", "Łukasz", "Message from Łukasz"),
      ("Message from ", "日本", "Message from 日本"), ("Message from ", "🏳️‍🌈", "Message from 🏳️‍🌈"),
      ("Message from ", "محمد", "Message from \u{2068}محمد\u{2069}"),
      ("Message from ", "דנה (Dana)", "Message from \u{2068}דנה (Dana)\u{2069}"),
      ("رسالة من ", "محمد", "رسالة من محمد"), ("رسالة من ", "Ann", "رسالة من \u{2068}Ann\u{2069}"),
      ("رسالة من ", "+49 170", "رسالة من +49 170"), ("", "محمد Ann", "محمد Ann"), ("1: ", "محمد", "1: محمد"),
      // What would end the isolate too early, or keep it open, is left out of it.
      ("Message from ", "מ\u{2069}\u{2067}ד", "Message from \u{2068}מד\u{2069}"),
    ])
  func isolated(words: String, value: String, text: String) {
    #expect(filled((words, false), (value, true)) == text)
  }

  @Test("values of both directions are both isolated, whatever the words are")
  func both() {
    #expect(filled(("Ann", true), (": ", false), ("שלום", true)) == "\u{2068}Ann\u{2069}: \u{2068}שלום\u{2069}")
    #expect(filled() == "" && filled(("", true), ("a", false)) == "a")
  }

  @Test(
    "what a cut has left open is closed",
    arguments: [
      ("a", "a"), ("\u{2068}a\u{2069}", "\u{2068}a\u{2069}"), ("\u{2068}a", "\u{2068}a\u{2069}"),
      ("\u{2066}\u{2067}a", "\u{2066}\u{2067}a\u{2069}\u{2069}"), ("a\u{2069}\u{2068}b", "a\u{2069}\u{2068}b\u{2069}"),
      (String(repeating: "\u{2068}", count: 5) + "a", "a"),
    ])
  func closed(text: String, closed: String) {
    #expect(text.closingIsolates == closed)
  }
}

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
