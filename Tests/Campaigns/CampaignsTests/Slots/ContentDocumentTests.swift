import PushRules
import Testing

@testable import Campaigns

@Suite("Documents of content, and their URLs")
struct ContentDocumentTests {
  @Test(
    "an object of strings is a document",
    arguments: [
      (#"{}"#, #"{}"#), (" {\n} \r\n", #"{}"#), (#"{"b":"2", "a" : "1"}"#, #"{"a":"1","b":"2"}"#),
      (#"{"a":"\u00e4\/\"\n"}"#, #"{"a":"ä/\"\n"}"#), (#"{"a":"{\"b\":[1,]}"}"#, #"{"a":"{\"b\":[1,]}"}"#),
      (#"{"a":"\ud83c\udf31"}"#, #"{"a":"🌱"}"#), (#"{"":""}"#, #"{"":""}"#),
    ])
  func documents(_ answer: String, _ text: String) {
    #expect(ContentDocument(Array(answer.utf8))?.text == text)
  }

  @Test(
    "nothing else is",
    arguments: [
      "", " ", "{", "}", "null", "[]", "\"a\"", "1", #"{"a"}"#, #"{"a":}"#, #"{"a":"b"#, #"{"a":"b"}}"#,
      #"{"a":"b"} x"#,
      #"{"a":"b",}"#, #"{,}"#, #"{"a":1}"#, #"{"a":null}"#, #"{"a":true}"#, #"{"a":["b"]}"#, #"{"a":{"b":"c"}}"#,
      #"{"a":{}}"#, #"{"a":"b","c":2}"#, #"{'a':'b'}"#, #"{a:"b"}"#, #"{"a":"b" "c":"d"}"#, #"{"a":"\u0000"}"#,
      #"{"\u0000":"a"}"#, #"{"a":"\ud83c"}"#, #"{"a":"\x"}"#, "{\"a\":\"b\nc\"}", "\u{FEFF}{\"a\":\"b\"}",
      #"// {"a":"b"}"#, #"{"a":"b"}{"c":"d"}"#, String(repeating: #"{"a":"#, count: 10_000),
    ])
  func malformed(_ answer: String) {
    #expect(ContentDocument(Array(answer.utf8)) == nil)
  }

  @Test("neither are other encodings, and bytes that are no text")
  func encodings() {
    let utf16 = Array(#"{"a":"b"}"#.utf16)
    #expect(ContentDocument(utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }) == nil)
    #expect(ContentDocument(utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }) == nil)
    #expect(ContentDocument([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc3, 0x22, 0x7d]) == nil)
  }

  @Test(
    "an id in a URL is escaped",
    arguments: [
      ("7", "7"), ("a/b?c#d&e=ü %", "a%2Fb%3Fc%23d%26e%3D%C3%BC%20%25"), ("A-Z_a.z~0", "A-Z_a.z~0"),
    ])
  func escapes(_ id: String, _ escaped: String) throws {
    let source = try #require(ContentSource("https://host.example/{user_id}/day?user={user_id}"))
    #expect(source.url(for: HostID(text: id)) == "https://host.example/\(escaped)/day?user=\(escaped)")
    #expect(source.isPerUser)
  }

  @Test("an id that is a step in a path has no URL", arguments: [".", ".."])
  func steps(_ id: String) throws {
    #expect(try #require(ContentSource("https://host.example/{user_id}")).url(for: HostID(text: id)) == nil)
  }

  @Test(
    "a host is named by the definition alone",
    arguments: [
      ("https://host.example", true), ("https://host.example:8443/a?b=c", true), ("HTTPS://[2001:db8::1]/", true),
      ("http://127.0.0.1:80/", true), ("https://host.example?u={user_id}", true), ("", false), ("host.example", false),
      ("ftp://host.example/", false), ("https://", false), ("https:///path", false), ("https://{user_id}/", false),
      ("https://host.example{user_id}/", false), ("https://user:password@host.example/", false),
      ("https://host.example\\@other.example/", false), ("https://h%6fst.example/", false),
      ("https://hö.example/", false), ("https://host.example/a b", false), ("https://host.example/\r\nX: y", false),
    ])
  func hosts(_ url: String, _ isUsable: Bool) {
    #expect((ContentSource(url) != nil) == isUsable)
  }
}
