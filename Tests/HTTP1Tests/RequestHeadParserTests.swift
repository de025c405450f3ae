import Testing

@testable import HTTP1

@Suite struct RequestHeadParserTests {
  @Test("what the rules allow is processed", arguments: acceptedRequests)
  func acceptsValid(_ example: RequestCase) {
    check(ConnectionRig.run(example.input), example)
  }

  @Test("what the rules forbid or leave open is refused and closes", arguments: refusedRequests)
  func refusesInvalid(_ example: RequestCase) {
    let transcript = ConnectionRig.run(example.input)
    check(transcript, example)
    #expect(transcript.sent.contains("\r\nConnection: close\r\n"))
    #expect(transcript.sent.contains("\r\nContent-Type: application/problem+json\r\n"))
  }

  @Test("pieces make no difference", arguments: acceptedRequests + refusedRequests)
  func resultIsIndependentOfPieces(_ example: RequestCase) {
    let bytes = Array(example.input.utf8)
    let whole = ConnectionRig.run([bytes[...]])
    let differing = cuts(of: bytes, sampleAbove: 600).first { ConnectionRig.run($0) != whole }
    #expect(differing == nil)
  }

  @Test(
    "a request that ends early is refused", arguments: ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\n"])
  func refusesEndInsideHead(_ start: String) {
    let transcript = ConnectionRig.run([Array(start.utf8)[...]], endsWithClose: true)
    #expect(transcript.statuses == [400])
    #expect(transcript.closeReason == .refused(.incomplete))
  }

  @Test("a request line of exactly the limit is accepted, one byte more is not")
  func limitsRequestLine() {
    var limits = HTTPLimits()
    limits.requestLineBytesMax = 20
    #expect(ConnectionRig.run("GET /123456 HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits).statuses == [200])
    #expect(ConnectionRig.run("GET /1234567 HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits).statuses == [414])
  }

  @Test("fields of exactly the limit are accepted, one byte more is not")
  func limitsFields() {
    var limits = HTTPLimits()
    limits.fieldBytesMax = "Host: a\r\nX: y\r\n".utf8.count
    #expect(ConnectionRig.run("GET / HTTP/1.1\r\nHost: a\r\nX: yz\r\n\r\n", limits: limits).statuses == [431])
    #expect(ConnectionRig.run("GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", limits: limits).statuses == [200])
  }

  private func check(_ transcript: Transcript, _ example: RequestCase) {
    #expect(transcript.requests == example.requests)
    #expect(transcript.statuses == example.statuses)
    #expect((transcript.closeReason == nil) == example.staysOpen)
  }
}
