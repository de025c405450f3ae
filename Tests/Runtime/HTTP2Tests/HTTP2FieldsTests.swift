import Testing

@testable import HTTP2

@Suite("Header field lists")
struct HTTP2FieldsTests {
  @Test("order, duplicates and empty values are kept")
  func order() {
    var fields = HTTP2Fields()
    fields.append("b", "1")
    fields.append("a", "")
    fields.append("b", "ü")
    #expect(fields.map(\.name) == ["b", "a", "b"])
    #expect(fields.map(\.value) == ["1", "", "ü"])
    #expect(fields.count == 3)
  }

  @Test("the first of several values is found, and none where there is none")
  func lookUp() {
    let fields: HTTP2Fields = ["a": "1", "b": "2", "a": "3"]
    #expect(fields["a"] == "1")
    #expect(fields["b"] == "2")
    #expect(fields["c"] == nil)
  }

  @Test(
    "secrets and values that never repeat are kept out of header compression",
    arguments: [("authorization", true, false), ("apns-id", false, false), ("apns-topic", true, true)])
  func indexing(name: String, wanted: Bool, expected: Bool) {
    var fields = HTTP2Fields()
    fields.append(name, "value", isIndexed: wanted)
    fields.withPackedBytes { packed in
      var offset = 0
      #expect(PackedField(in: packed, at: &offset).isIndexed == expected)
      #expect(offset == packed.count)
    }
  }
}
