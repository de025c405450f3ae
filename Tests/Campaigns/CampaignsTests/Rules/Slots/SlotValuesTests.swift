import Testing

@testable import Campaigns

@Suite("The values of slots")
struct SlotValuesTests {
  @Test(
    "strings, numbers and booleans are values",
    arguments: [
      (#""Low Flame""#, "Low Flame"), ("4", "4"), ("4.0", "4"), ("-1", "-1"), ("4.5", "4.5"), ("true", "true"),
      ("false", "false"), ("9007199254740993", "9007199254740993"), (#""4""#, "4"), (#""<b> & 'x'""#, "<b> & 'x'"),
    ])
  func kinds(json: String, line: String) {
    #expect(SlotValues(json: #"{"a":\#(json),"b":"c"}"#)?.lines == ["a": line, "b": "c"])
  }

  @Test(
    "null, blank, nested and impossible members are absent, and the others stay",
    arguments: [
      "null", #""""#, #"" \n\t""#, #""\u200b\u202e""#, #""\u0000""#, "[]", #"["x"]"#, #"{"x":"y"}"#, "1e999",
    ])
  func absent(json: String) {
    #expect(SlotValues(json: #"{"a":\#(json),"b":"c"}"#)?.lines == ["b": "c"])
  }

  @Test(
    "a text that is not an object is refused",
    arguments: [
      "", " ", "null", "[]", #"[{"a":"b"}]"#, #""a""#, "1", "{", #"{"a"}"#, #"{"a":"b"} x"#, "<html>", "\u{0}",
    ])
  func documents(json: String) {
    #expect(SlotValues(json: json) == nil)
  }

  @Test("a document has a largest size", arguments: [(65_536, true), (65_537, false)])
  func size(bytes: Int, isRead: Bool) {
    let json = #"{"a":"\#(String(repeating: "x", count: bytes - 8))"}"#
    #expect(json.utf8.count == bytes)
    #expect((SlotValues(json: json) != nil) == isRead)
  }

  @Test("deep nesting is absent or refused, and never a crash")
  func depth() {
    let shallow = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    #expect(SlotValues(json: #"{"a":\#(shallow),"b":"c"}"#)?.lines == ["b": "c"])
    #expect(SlotValues(json: #"{"a":\#(String(repeating: "[", count: 65_000))"#) == nil)
  }

  @Test("values stay on one line, without control characters, and are bounded")
  func lines() throws {
    let values = try SlotSample.values(
      #"{"a":" x\r\n\u0000\u0007y\u202ez ","b":"\#(String(repeating: "v", count: 9_000))"}"#)
    #expect(values.lines["a"] == "x yz")
    #expect(values.lines["b"]?.count == 2_400)
  }

  @Test("the document's values are over the material's")
  func overlaid() throws {
    let material = try SlotSample.values(#"{"a":"material","b":"material"}"#)
    let content = try SlotSample.values(#"{"b":"content","c":"content","a":null}"#)
    #expect(material.overlaid(with: content).lines == ["a": "material", "b": "content", "c": "content"])
    #expect(material.overlaid(with: SlotValues()) == material)
  }
}
