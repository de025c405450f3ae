import Testing

@testable import API

@Suite("Form bodies")
struct FormBodyTests {
  @Test(
    "reads names and values",
    arguments: [
      ("", "key", nil), ("key=abc", "key", "abc"), ("key=", "key", ""), ("key", "key", ""), ("=abc", "", "abc"),
      ("key=a+b", "key", "a b"), ("key=a%2Bb", "key", "a+b"), ("key=a=b", "key", "a=b"), ("%6bey=1", "key", "1"),
      ("a=1&key=2", "key", "2"), ("a=1&&key=2&", "key", "2"), ("key=%C3%A9", "key", "é"), ("key=100%", "key", "100%"),
      ("key=%zz", "key", "%zz"), ("Key=1", "key", nil),
      ("a=1&b=2&c=3&d=4&e=5&f=6&g=7&key=8", "key", "8"),
    ] as [(String, String, String?)])
  func reads(_ body: String, _ name: String, _ value: String?) throws {
    let form = try #require(FormBody(Array(body.utf8)))
    #expect(form[name] == value)
  }

  @Test(
    "refuses what is no form of ours",
    arguments: [
      "key=%FF", "%FF=1", "key=%C3", "key=1&key=2", "key=1&%6bey=2", "a&b&c&d&e&f&g&h&i",
      "key=" + String(repeating: "a", count: FormBody.bytesMax - 3),
    ])
  func refuses(_ body: String) {
    #expect(FormBody(Array(body.utf8)) == nil)
  }

  @Test("takes as many bytes as it may have")
  func longest() throws {
    let value = String(repeating: "a", count: FormBody.bytesMax - 4)
    let form = try #require(FormBody(Array("key=\(value)".utf8)))
    #expect(form["key"] == value)
  }

  @Test("cut at any byte it gives a beginning of the value, or nothing")
  func cut() {
    let body = Array("then=%2Fdashboard&key=s%C3%A9sam+1".utf8)
    for end in body.indices {
      guard let key = FormBody(Array(body[..<end]))?["key"] else { continue }
      let isHalfEncoded = body[..<end].suffix(2).contains(UInt8(ascii: "%"))
      #expect("sésam 1".hasPrefix(key) || isHalfEncoded, "\(end): \(key)")
    }
  }
}
