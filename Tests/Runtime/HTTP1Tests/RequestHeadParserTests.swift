import Testing

@testable import HTTP1

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
