import HTTPTypes
import Testing

@testable import HTTP1

@Suite struct RequestHeadTests {
  @Test(
    "segments are decoded each by itself",
    arguments: [
      ("/", [""]), ("/a", ["a"]), ("/a/b", ["a", "b"]), ("/a/", ["a", ""]), ("//a", ["", "a"]),
      ("/a%2Fb/c", ["a/b", "c"]), ("/caf%C3%A9", ["café"]), ("/a+b", ["a+b"]), ("/%25", ["%"]), ("/a?b/c", ["a"]),
      ("http://h", [""]), ("http://h/x/y", ["x", "y"]), ("/a//", ["a", "", ""]),
    ])
  func decodesSegments(_ target: String, _ segments: [String]) throws {
    #expect(try head(target).pathSegments == segments)
  }

  @Test("a segment that is not UTF-8 makes no segments")
  func refusesInvalidText() throws {
    #expect(try head("/a/%FF").pathSegments == nil)
  }

  @Test("query parameters keep their order and are decoded")
  func decodesQuery() throws {
    let head = try head("/?a=1&b=x+y%26&&c&a=2&=d&e==")
    #expect(head.query == "a=1&b=x+y%26&&c&a=2&=d&e==")
    #expect(head.queryParameters.map(\.name) == ["a", "b", "c", "a", "", "e"])
    #expect(head.queryParameters.map(\.value) == ["1", "x y&", "", "2", "d", "="])
    #expect(head.queryValue("a") == "1")
    #expect(head.queryValue("z") == nil)
  }

  @Test("no question mark means no query, a bare one an empty query")
  func tellsMissingQuery() throws {
    #expect(try head("/").query == nil)
    #expect(try head("/?").query == "")
  }

  @Test("the authority of an absolute target overrides the Host field")
  func prefersTargetAuthority() throws {
    #expect(try head("http://b:81/x").authority == "b:81")
    #expect(try head("http://b:81/x").path == "/x")
    #expect(try head("/x").authority == "a")
  }

  @Test("fields are found by name in any case, repeated ones joined")
  func findsFields() throws {
    let head = try head("/", fields: "X-One: 1\r\nx-one:  2 \r\nCookie: a=b\r\nCookie: c=d\r\nEmpty:\r\n")
    #expect(try head[#require(HTTPField.Name("X-ONE"))] == "1, 2")
    #expect(try head.values(of: #require(HTTPField.Name("x-One"))) == ["1", "2"])
    #expect(head[.cookie] == "a=b; c=d")
    #expect(try head[#require(HTTPField.Name("Empty"))] == "")
    #expect(head[.authorization] == nil)
  }

  @Test("a long value that is not ASCII is read byte by byte, because comparing it with its marks would take long")
  func readsLongText() throws {
    let marks = String(repeating: "\u{301}\u{316}", count: 256)
    let head = try head("/", fields: "Origin: \(marks)\r\nUser-Agent: a\(marks)\r\n")
    #expect(head[.origin] == marks)
    let expected = ("a" + marks).utf8.map { Character(Unicode.Scalar($0)) }
    #expect(head[.userAgent].map(Array.init) == expected)
    #expect(head.values(of: .userAgent).map(Array.init) == [expected])
    #expect(head.fields[.userAgent].map(Array.init) == expected)
  }

  @Test("all fields come in their order")
  func listsFields() throws {
    let fields = try head("/", fields: "B: 1\r\nA: 2\r\nB: 3\r\n").fields
    #expect(fields.map(\.name.rawName) == ["Host", "B", "A", "B"])
    #expect(fields.map(\.value) == ["a", "1", "2", "3"])
  }

  @Test("the server as a whole is told from a path")
  func tellsAsterisk() throws {
    #expect(try head("*", method: "OPTIONS").isForServer)
    #expect(try head("http://h", method: "OPTIONS").isForServer)
    #expect(try !head("http://h/", method: "OPTIONS").isForServer)
    #expect(try !head("http://h?", method: "OPTIONS").isForServer)
    #expect(try !head("http://h").isForServer)
    #expect(try !head("/*").isForServer)
    #expect(try head("*", method: "OPTIONS").method == .options)
  }

  private func head(_ target: String, method: String = "GET", fields: String = "") throws -> RequestHead {
    var parser = RequestHeadParser(limits: HTTPLimits())
    let bytes = Array("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8)
    return try #require(try parser.parse(bytes.span))
  }
}
