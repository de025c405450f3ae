import FoundationEssentials
import Testing

@testable import PushRules

private func json(_ value: PayloadValue) -> String {
  var json = JSONBytes(reservingBytes: 0)
  json.append(value: value)
  return String(decoding: json.bytes, as: UTF8.self)
}

@Suite("JSON bytes")
struct JSONBytesTests {
  @Test(
    "each kind of value has one form",
    arguments: [
      (PayloadValue.null, "null"), (true, "true"), (false, "false"), (0, "0"), (-7, "-7"),
      (.integer(.max), "9223372036854775807"), (.integer(.min), "-9223372036854775808"),
      (.number(0.5), "0.5"), (.number(-1e300), "-1e+300"), (.number(3.0), "3.0"), (.number(0.1), "0.1"),
      ("", #""""#), (.array([]), "[]"), (.array([1, "a", .null]), #"[1,"a",null]"#),
      (.array([.array([]), .object([:]), "[", "{"]), #"[[],{},"[","{"]"#),
      (.object([:]), "{}"), (.object(["k": .object(["n": .array([.object([:])])])]), #"{"k":{"n":[{}]}}"#),
    ])
  func forms(value: PayloadValue, expected: String) {
    #expect(json(value) == expected)
  }

  @Test(
    "only quotes, backslashes and controls are escaped",
    arguments: [
      ("plain", #""plain""#), (#"a"b"#, #""a\"b""#), (#"a\b"#, #""a\\b""#), ("a/b", #""a/b""#),
      ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#), ("\u{0}\u{1F}", #""\u0000\u001f""#),
      ("\u{7F}\u{85}\u{2028}", "\"\u{7F}\u{85}\u{2028}\""), ("ü👨‍👩‍👧‍👦각", #""ü👨‍👩‍👧‍👦각""#), (#""""#, #""\"\"""#),
    ])
  func escapes(text: String, expected: String) {
    #expect(json(.string(text)) == expected)
  }

  @Test("a key is escaped like any string")
  func keys() {
    #expect(json(.object(["a\"\n": 1])) == #"{"a\"\n":1}"#)
  }

  @Test("every scalar below U+0800 survives a foreign decoder")
  func foreignDecoder() throws {
    let text = String(String.UnicodeScalarView((0..<0x800).compactMap(Unicode.Scalar.init)))
    let decoded = try JSONDecoder().decode([String].self, from: Data(json(.array([.string(text)])).utf8))
    #expect(decoded == [text])
  }
}

@Suite("JSON escapes")
struct JSONEscapeTests {
  @Test("the width announced is the width written", arguments: UInt8.min...UInt8.max)
  func widths(byte: UInt8) {
    var bytes: [UInt8] = []
    if JSONEscape.isNeeded(for: byte) { JSONEscape.append(byte, to: &bytes) } else { bytes.append(byte) }
    #expect(bytes.count == JSONEscape.width(of: byte))
  }
}
