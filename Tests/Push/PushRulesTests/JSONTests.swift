import Foundation
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

@Suite("Payload objects")
struct PayloadObjectTests {
  @Test("members keep the order in which they came, and a key its place")
  func order() {
    var object: PayloadObject = ["z": 1, "a": 2, "z": 3]
    #expect(object.members.map(\.key) == ["z", "a"])
    #expect(object["z"] == 3)
    object["m"] = true
    object["a"] = nil
    object["gone"] = nil
    #expect(object.members.map(\.key) == ["z", "m"])
  }

  @Test("objects are equal when their bytes would be")
  func equality() {
    let one: PayloadObject = ["a": 1, "b": 2]
    #expect(one == ["a": 1, "b": 2])
    #expect(one != ["b": 2, "a": 1])
    #expect(one != ["a": 1])
    #expect(one != ["a": 1, "b": "2"])
  }
}

@Suite("Finite numbers")
struct FiniteNumberTests {
  @Test(
    "every finite number is taken as it is",
    arguments: [0, -0.0, 0.1, -1.5, .leastNonzeroMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude])
  func taken(value: Double) throws {
    #expect(try FiniteNumber(value).value == value)
  }

  @Test("what JSON cannot write is refused", arguments: [Double.infinity, -.infinity, .nan, .signalingNaN])
  func refused(value: Double) throws {
    let error = try #require(throws: PushRequestError.self) { try FiniteNumber(value) }
    #expect(error.code == .numberNotFinite)
  }
}

@Suite("JSON that others write")
struct PayloadReaderTests {
  private static func read(_ text: String, _ limits: JSONLimits = .client) throws(JSONFault) -> String {
    let value = try PayloadValue(json: Array(text.utf8), limits: limits)
    return String(String(decoding: (["v": value] as PayloadObject).encoded(), as: UTF8.self).dropFirst(5).dropLast())
  }

  @Test(
    "every kind of value is read",
    arguments: [
      ("null", "null"), (" true ", "true"), ("false", "false"), ("0", "0"), ("-0", "0"), ("-12", "-12"),
      ("9223372036854775807", "9223372036854775807"), ("-9223372036854775808", "-9223372036854775808"), ("1.5", "1.5"),
      ("1e2", "100.0"), ("2.5E-1", "0.25"), ("[]", "[]"), ("[1,[2] , 3]", "[1,[2],3]"), ("{}", "{}"),
      (#"{"b":1,"a":{"c":null}}"#, #"{"a":{"c":null},"b":1}"#), (#"{"a":1,"a":2}"#, #"{"a":1}"#),
      (#""""#, #""""#), (#""é👍""#, #""é👍""#), (#""\u00e9\ud83d\udc4d\n\/""#, #""é👍\n/""#),
    ])
  func good(_ text: String, _ expected: String) throws {
    #expect(try Self.read(text) == expected)
  }

  @Test(
    "what is no JSON is refused, wherever it is cut",
    arguments: [
      "", " ", "nul", "True", "01", "-", "1.", ".5", "1e", "+1", "NaN", "Infinity", "[1,]", "[1 2]", "{\"a\":1,}",
      "{a:1}", "{\"a\"}", "{\"a\":}", "[", "{", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud83d\"", "\"\\udc4d\"",
      "\"\\ud83d\\u0041\"",
      "\"\n\"", "1 1", "[]]", "\"a\" \"b\"", "\u{FEFF}1",
    ])
  func malformed(_ text: String) {
    #expect(throws: JSONFault(code: .malformed)) { try Self.read(text) }
  }

  @Test(
    "bytes that are no UTF-8 are refused",
    arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]])
  func encoding(_ bytes: [UInt8]) {
    #expect(throws: JSONFault(code: .malformed)) { try PayloadValue(json: bytes) }
  }

  @Test("depth and number of values are bounded, on both sides of the edge")
  func limits() throws {
    func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
    func flat(_ count: Int) -> String { "[" + Array(repeating: "1", count: count - 1).joined(separator: ",") + "]" }
    _ = try Self.read(nested(16))
    #expect((try? Self.read(nested(17))) == nil)
    #expect(throws: JSONFault(code: .tooDeep, path: Array(repeating: "[0]", count: 16))) { try Self.read(nested(17)) }
    _ = try Self.read(flat(2000))
    let error = #expect(throws: JSONFault.self) { try Self.read(flat(2001)) }
    #expect(error?.code == .tooManyElements)
  }

  @Test("an integer beyond 64 bits is refused, unless its digits do not matter; so is a number that no Double holds")
  func numbers() throws {
    let big = #"{"a":[9223372036854775808]}"#
    #expect(throws: JSONFault(code: .numberTooLarge, path: ["a", "[0]"])) { try Self.read(big) }
    #expect(try Self.read(big, .hostRow) == #"{"a":[9.223372036854776e+18]}"#)
    #expect(throws: JSONFault(code: .numberTooLarge, path: ["a"])) { try Self.read(#"{"a":1e999}"#) }
    #expect(try Self.read(#"{"a":1e999}"#, .hostRow) == #"{"a":null}"#)
  }

  @Test("U+0000 is named with its place, and passed over in rows of the host")
  func nullCharacter() throws {
    #expect(throws: JSONFault(code: .nullCharacter, path: ["a", "b"])) { try Self.read(#"{"a":{"b":"x\u0000"}}"#) }
    #expect(throws: JSONFault(code: .nullCharacter)) { try Self.read(#"{"\u0000":1}"#) }
    #expect(try Self.read(#"{"a":"\u0000"}"#, .hostRow) == #"{"a":"\u0000"}"#)
  }

  @Test("more combining marks in a row than any language has are refused, and passed over in rows of the host")
  func marks() throws {
    func text(_ count: Int) -> String { "a" + String(repeating: "\u{301}\u{316}", count: count / 2) }
    let allowed = "\"" + text(30) + " " + text(30) + "\""
    #expect(try Self.read(allowed) == allowed)
    let escaped = String(repeating: #"\u0301\u0316"#, count: 16)
    for refused in [text(32), escaped, text(30) + "\u{f73}", text(30) + "\u{302e}"] {
      #expect(throws: JSONFault(code: .tooManyMarks, path: ["a", "[0]"])) { try Self.read(#"{"a":["\#(refused)"]}"#) }
      #expect(throws: JSONFault(code: .tooManyMarks)) { try Self.read(#"{"\#(refused)":1}"#) }
      _ = try Self.read(#"{"a":"\#(refused)"}"#, .hostRow)
      #expect(try Self.read(#"{"\#(refused)":1,"b":2}"#, .hostRow) == #"{"b":2}"#)
    }
  }

  @Test("names that are equal but for the order of their marks are two, in the order of their bytes")
  func names() throws {
    let text = "{\"b\":1,\"e\u{301}\":2,\"\u{e9}\":3,\"b\":4}"
    #expect(try Array(Self.read(text).utf8) == Array("{\"b\":1,\"e\u{301}\":2,\"\u{e9}\":3}".utf8))
  }

  private struct Document: Decodable, Equatable {
    enum Colour: String, Decodable { case red }
    let text: String
    let id: UUID
    let whole: Int
    let small: UInt8?
    let share: Double
    let colour: Colour
    let list: [Int]
    let table: [String: Bool]
    let more: PayloadObject?
  }

  private static let document =
    #"{"text":"é","id":"3E1C2F60-8E0F-4F0A-B1A5-0D3A4B5C6D7E","whole":3.0,"share":1,"colour":"red","list":[1,2],"table":{"a":true},"more":{"b":[1.5]}}"#

  @Test("types are decoded as by Foundation's decoder")
  func decoding() throws {
    let value = try PayloadValue(json: Array(Self.document.utf8))
    let decoded = try Document(from: PayloadDecoder(value))
    #expect(try decoded == JSONDecoder().decode(Document.self, from: Data(Self.document.utf8)))
    #expect(decoded.small == nil && decoded.whole == 3)
  }

  @Test(
    "so are faults, with their place",
    arguments: [
      (#""text":"é""#, #""text":7"#, "text"), (#""text":"é""#, #""text":null"#, "text"), (#""text":"é","#, "", "text"),
      (#""whole":3.0"#, #""whole":3.5"#, "whole"), (#""list":[1,2]"#, #""list":[1,"2"]"#, "list 1"),
      (#""colour":"red""#, #""colour":"blue""#, "colour"), (#""small":3"#, #""small":300"#, "small"),
      (#"{"a":true}"#, #"{"a":1}"#, "table a"), (#""id":"3E"#, #""id":"XX"#, "id"),
    ])
  func faults(_ member: String, _ replacement: String, _ place: String) throws {
    var text = Self.document.replacing(#""share""#, with: #""small":3,"share""#)
    #expect(text.contains(member))
    text = text.replacing(member, with: replacement)
    let value = try PayloadValue(json: Array(text.utf8))
    func found(_ body: () throws -> Document) -> String? {
      do {
        _ = try body()
        return nil
      } catch let error as DecodingError {
        let (path, key): ([any CodingKey], String?) =
          switch error {
          case .keyNotFound(let key, let context): (context.codingPath, key.stringValue)
          case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            (context.codingPath, nil)
          @unknown default: ([], nil)
          }
        let names = path.map { $0.intValue.map { "\($0)" } ?? $0.stringValue } + [key].compactMap { $0 }
        return names.joined(separator: " ")
      } catch {
        return "\(error)"
      }
    }
    #expect(found { try Document(from: PayloadDecoder(value)) } == place)
    // Foundation's decoder says no place for a number that does not fit.
    let foundations = found { try JSONDecoder().decode(Document.self, from: Data(text.utf8)) }
    #expect(foundations == place || foundations?.isEmpty == true)
  }
}
