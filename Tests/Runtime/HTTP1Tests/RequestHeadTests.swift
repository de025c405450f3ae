import HTTPTypes
import Testing

@testable import HTTP1

@Suite struct RequestHeadTests {
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
    let name = try #require(HTTPField.Name("X-ONE"))
    let empty = try #require(HTTPField.Name("Empty"))
    #expect(head[name] == "1, 2")
    #expect(head[.cookie] == "a=b; c=d")
    #expect(head[empty] == "")
    #expect(head[.authorization] == nil)
  }

  @Test("a long value that is not ASCII is read byte by byte, because comparing it with its marks would take long")
  func readsLongText() throws {
    let marks = String(repeating: "\u{301}\u{316}", count: 256)
    let head = try head("/", fields: "Origin: \(marks)\r\nUser-Agent: a\(marks)\r\n")
    #expect(head[.origin] == marks)
    let expected = ("a" + marks).utf8.map { Character(Unicode.Scalar($0)) }
    #expect(head[.userAgent].map(Array.init) == expected)
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

extension RequestCase: CustomTestStringConvertible {
  var testDescription: String { "\(rule): \(input.prefix(70).debugDescription)" }
}

@Suite struct RequestHeadParserTests {
  @Test("what the rules allow is processed", arguments: acceptedRequests + acceptedContents)
  func acceptsValid(_ example: RequestCase) {
    check(run(example), example)
  }

  @Test("what the rules forbid or leave open is refused and closes", arguments: refusedRequests)
  func refusesInvalid(_ example: RequestCase) {
    let transcript = run(example)
    check(transcript, example)
    #expect(transcript.sent.contains("\r\nConnection: close\r\n"))
    #expect(transcript.sent.contains("\r\nContent-Type: application/problem+json\r\n"))
  }

  @Test("requests, answers and the end of the input leave the connection as the rules say", arguments: connectionCases)
  func keepsConnection(_ example: RequestCase) {
    check(run(example), example)
  }

  @Test("pieces make no difference", arguments: allCases)
  func resultIsIndependentOfPieces(_ example: RequestCase) {
    let whole = run(example)
    let differing = cuts(of: Array(example.input.utf8), sampleAbove: 600).first { pieces in
      ConnectionRig.run(pieces, endsWithClose: example.endsWithClose) != whole
    }
    #expect(differing == nil)
  }

  @Test("each rule has its place in an RFC, and no case stands twice")
  func casesAreNamed() {
    let counts = Dictionary(allCases.map { ($0.section, 1) }, uniquingKeysWith: +)
    for (section, count) in counts.sorted(by: { $0.key < $1.key }) { print("RFC \(section): \(count) cases") }
    print("request cases: \(allCases.count)")
    #expect(allCases.count >= 300)
    #expect(counts.keys.filter { $0.wholeMatch(of: /\d{4}-\d+(\.\d+)*/) == nil } == [])
    #expect(Set(allCases.map(\.rule)).count == allCases.count)
    #expect(Set(allCases.map { "\($0.endsWithClose) \($0.input)" }).count == allCases.count)
  }

  @Test("a request line of exactly the limit is accepted, one byte more is not")
  func limitsRequestLine() {
    var limits = HTTPLimits()
    limits.requestLineBytesMax = 20
    #expect(ConnectionRig.run("GET /123456 HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits).statuses == [200])
    #expect(ConnectionRig.run("GET /1234567 HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits).statuses == [414])
  }

  @Test("a method that leaves no room for a target is too long")
  func limitsMethod() {
    var limits = HTTPLimits()
    limits.requestLineBytesMax = 20
    let method = String(repeating: "M", count: 20)
    #expect(ConnectionRig.run(method + " / HTTP/1.1\r\n", limits: limits).statuses == [414])
    #expect(ConnectionRig.run(method + "M / HTTP/1.1\r\n", limits: limits).statuses == [501])
  }

  @Test("an https target is served over a secured connection")
  func servesHTTPSWhenSecure() throws {
    let bytes = Array("GET https://b:443/x HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    var parser = RequestHeadParser(limits: HTTPLimits(), isSecure: true)
    #expect(try parser.parse(bytes.span)?.authority == "b:443")
    parser = RequestHeadParser(limits: HTTPLimits())
    #expect(throws: RequestRefusal.misdirected) { try parser.parse(bytes.span) }
  }

  @Test("fields of exactly the limit are accepted, one byte more is not")
  func limitsFields() {
    var limits = HTTPLimits()
    limits.fieldBytesMax = "Host: a\r\nX: y\r\n".utf8.count
    #expect(ConnectionRig.run("GET / HTTP/1.1\r\nHost: a\r\nX: yz\r\n\r\n", limits: limits).statuses == [431])
    #expect(ConnectionRig.run("GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", limits: limits).statuses == [200])
  }

  private func run(_ example: RequestCase) -> Transcript {
    ConnectionRig.run([Array(example.input.utf8)[...]], endsWithClose: example.endsWithClose)
  }

  private func check(_ transcript: Transcript, _ example: RequestCase) {
    #expect(transcript.requests == example.requests)
    #expect(transcript.statuses == example.statuses)
    #expect(transcript.closeReason == example.close)
  }
}

private let unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
private let subDelimiters = "!$&'()*+,;="

@Suite struct ByteSetTests {
  @Test("each constant is its list of characters")
  func matchesCharacters() {
    expect(.token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~")
    expect(.path, unreserved + subDelimiters + ":@/")
    expect(.query, unreserved + subDelimiters + ":@/?")
    expect(.hostName, unreserved + subDelimiters)
  }

  private func expect(_ set: ByteSet, _ characters: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let members = (UInt8.min...UInt8.max).filter { set.contains($0) }
    #expect(members == characters.utf8.sorted(), sourceLocation: sourceLocation)
  }
}

@Suite struct FirstControlTests {
  @Test("every byte is judged alike at every place, among others of any kind", arguments: 0...UInt8.max)
  func judgesEveryByte(_ byte: UInt8) {
    for filler in [UInt8(ascii: "a"), 0x20, 0x7e, 0x80, 0xff, .tab] {
      for place in 0..<20 {
        var bytes = [UInt8](repeating: filler, count: 20)
        bytes[place] = byte
        let expected = byte.isControl ? place : bytes.count
        let found = bytes.span.firstControl(from: 0, to: bytes.count)
        #expect(found == expected, "0x\(String(byte, radix: 16)) at \(place) among 0x\(String(filler, radix: 16))")
      }
    }
  }

  @Test("what stands before the start and from the end on does not count")
  func keepsToItsRange() {
    var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 20)
    (bytes[2], bytes[17]) = (0, 0)
    for start in 3...17 {
      #expect(bytes.span.firstControl(from: start, to: 17) == 17)
      #expect(bytes.span.firstControl(from: start, to: 18) == 17)
    }
  }
}

@Suite struct HTTPDateTests {
  @Test(
    "a second is written as the Date field wants it",
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
      (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
      (1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT"),
      (1_767_225_600, "Thu, 01 Jan 2026 00:00:00 GMT"),
      (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
  func writes(_ seconds: Int, _ text: String) {
    #expect(HTTPDate(unixSeconds: seconds).fieldLine == Array("Date: \(text)\r\n".utf8))
  }
}
