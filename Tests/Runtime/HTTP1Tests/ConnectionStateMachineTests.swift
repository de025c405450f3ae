import HTTPTypes
import Testing

@testable import HTTP1

private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

private func post(_ fields: String) -> String { "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n" }

@Suite struct ConnectionStateMachineTests {
  @Test("five hundred pipelined requests are answered in order while the buffer moves its bytes")
  func answersLongPipelines() {
    var expected: [String] = []
    var input = ""
    for number in 0..<500 {
      expected.append("GET /\(number)/\(String(repeating: "p", count: number % 61))")
      input +=
        "\(expected[number]) HTTP/1.1\r\nHost: a\r\nX-Filling: \(String(repeating: "f", count: number % 37))\r\n\r\n"
    }
    let bytes = Array(input.utf8)
    for size in [1, 7, 1000, 4095, 4096, 4097, bytes.count] {
      let pieces = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
      let transcript = ConnectionRig.run(pieces)
      #expect(transcript.requests == expected)
      #expect(transcript.closeReason == nil)
    }
  }

  @Test("a refusal has content unless the refused request is HEAD, whatever came before")
  func refusesWithContent() {
    let head = "HEAD / HTTP/1.1\r\nHost: a\r\n"
    let afterHead = ConnectionRig.run(head + "\r\n" + "GET / HTTP/1.1\r\nHost : a\r\n\r\n")
    #expect(afterHead.sent.hasSuffix("\"detail\":\"A header field is malformed.\"}"))
    let ofHead = ConnectionRig.run(get + head + "X : y\r\n\r\n")
    #expect(ofHead.statuses == [200, 400])
    #expect(ofHead.sent.hasSuffix("Connection: close\r\n\r\n"))
  }

  @Test("a drain while refused content is thrown away closes after it")
  func drainsWhileDiscarding() {
    var rig = ConnectionRig()
    rig.feed(post("Content-Length: 65") + "x")
    #expect(rig.machine.drainRequested() == nil)
    rig.feed(String(repeating: "x", count: 64))
    #expect(rig.transcript.statuses == [413])
    #expect(rig.transcript.closeReason == .drained)
  }

  @Test("an empty line alone is no request: its deadline and a drain close quietly")
  func ignoresEmptyLineAtTheEnd() {
    var idle = ConnectionRig()
    idle.feed(get + "\r\n")
    #expect(isClose(idle.machine.drainRequested(), .drained))
    var late = ConnectionRig()
    late.feed(get + "\r\n")
    #expect(isClose(late.machine.deadlinePassed(), .idle))
  }

  @Test("the next request waits for the answer to the former")
  func answersOneAtATime() {
    var machine = ConnectionStateMachine(limits: HTTPLimits(), date: ConnectionRig.date)
    receive(get + get, &machine)
    var isInTurn = false
    if case .route = machine.received(), case .handle = machine.routed(bodyBytesMax: 0), machine.output.isEmpty,
      case .route = machine.answered(ResponseHead(status: .ok))
    {
      isInTurn = true
    }
    #expect(isInTurn)
  }

  @Test("a client is asked to continue only when its content is acceptable")
  func continuesWithinLimit() {
    let fields = "Expect: 100-continue\r\nContent-Length: "
    #expect(ConnectionRig.run(post(fields + "64")).statuses == [100])
    let refused = ConnectionRig.run(post(fields + "65"))
    #expect(refused.statuses == [413])
    #expect(refused.closeReason == .answered)
  }

  @Test("an answer carries date, length and no banner")
  func writesAnswer() {
    let sent = ConnectionRig.run(get).sent
    #expect(sent == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nok")
  }

  @Test("an answer to HEAD has the length and not the content")
  func answersHeadWithoutContent() {
    let sent = ConnectionRig.run("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + get).sent
    #expect(sent.split(separator: "HTTP/1.1").first?.hasSuffix("GMT\r\n\r\n") == true)
    #expect(sent.contains("Content-Length: 2\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nHTTP/1.1 200"))
  }

  @Test("an old client that asked to stay is told that it may")
  func confirmsKeepAlive() {
    #expect(
      ConnectionRig.run("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").sent.contains("Connection: keep-alive\r\n"))
    #expect(ConnectionRig.run("GET / HTTP/1.0\r\n\r\n").sent.contains("Connection: close\r\n"))
  }

  @Test("204 and 304 have neither content nor length", arguments: [HTTPResponse.Status.noContent, .notModified])
  func omitsContent(_ status: HTTPResponse.Status) {
    for isPrepared in [false, true] {
      var rig = handling(get)
      let head = ResponseHead(status: status)
      rig.action =
        isPrepared
        ? rig.machine.answered(PreparedResponse(head, body: [1])) : rig.machine.answered(head, body: [1])
      rig.flush()
      #expect(!rig.transcript.sent.contains("Content-Length"))
      #expect(rig.transcript.sent.hasSuffix("GMT\r\n\r\n"))
    }
  }

  @Test("a handler cannot set what frames the message, and can close the connection")
  func dropsFramingFields() {
    var rig = handling(get)
    var fields = HTTPFields()
    fields[.contentLength] = "99"
    fields[.transferEncoding] = "chunked"
    fields[.date] = "never"
    fields[.connection] = "close"
    rig.action = rig.machine.answered(ResponseHead(status: .ok, fields: fields), body: [])
    rig.flush()
    #expect(isClose(rig.action, .answered))
    #expect(
      rig.transcript.sent
        == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: close\r\n\r\n")
  }

  @Test("a value with line ends cannot add fields to an answer")
  func keepsValuesOnTheirLine() {
    var rig = handling(get)
    rig.action = rig.machine.answered(ResponseHead(status: .ok, fields: [.location: "/a\r\nSet-Cookie: b"]))
    rig.flush()
    #expect(!rig.transcript.sent.contains("\nSet-Cookie"))
    #expect(rig.transcript.sent.contains("\r\nLocation: /a"))
  }

  @Test("draining closes a quiet connection at once")
  func drainsQuietConnection() {
    var rig = ConnectionRig()
    rig.feed(get)
    #expect(isClose(rig.machine.drainRequested(), .drained))
  }

  @Test("draining lets the request in flight finish and closes after it")
  func drainsBusyConnection() {
    var rig = ConnectionRig()
    rig.feed("GET / HTTP/1.1\r\n")
    #expect(rig.machine.drainRequested() == nil)
    rig.feed("Host: a\r\n\r\n" + get)
    #expect(rig.transcript.statuses == [200])
    #expect(rig.transcript.sent.contains("Connection: close\r\n"))
    #expect(rig.transcript.closeReason == .answered)
  }

  @Test("a deadline is answered with 408 inside a request and silently before one")
  func answersDeadlines() {
    for (input, statuses) in [("", []), ("GET", [408]), (post("Content-Length: 5") + "he", [408])] {
      var rig = ConnectionRig()
      rig.feed(input)
      rig.action = rig.machine.deadlinePassed()
      rig.perform()
      #expect(rig.transcript.statuses == statuses)
      #expect(rig.transcript.closeReason == (statuses.isEmpty ? .idle : .refused(.timedOut)))
    }
  }

  @Test("what the peer is expected to send is told")
  func tellsStretches() {
    for (input, expected) in [
      ("", ReadStretch.head), (get, .idle), (get + "G", .head), (post("Content-Length: 1"), .body),
    ] {
      var rig = ConnectionRig()
      rig.feed(input)
      guard case .read(let stretch) = rig.action else {
        Issue.record("not reading")
        continue
      }
      #expect(stretch == expected)
    }
  }

  private func receive(_ text: String, _ machine: inout ConnectionStateMachine) {
    _ = machine.receive { space in
      space.copyBytes(from: text.utf8)
      return text.utf8.count
    }
  }

  private func handling(_ text: String) -> ConnectionRig {
    var rig = ConnectionRig()
    receive(text, &rig.machine)
    _ = rig.machine.received()
    rig.action = rig.machine.routed(bodyBytesMax: 64)
    return rig
  }

  private func isClose(_ action: ConnectionAction?, _ reason: CloseReason) -> Bool {
    guard case .close(reason) = action else { return false }
    return true
  }
}

@Suite struct SpareBuffersTests {
  @Test("a connection that waits keeps no memory and gives back a kilobyte for each way, whatever it has seen")
  func keepsNoMemory() {
    var rig = ConnectionRig(bodyBytesMax: 1024 * 1024)
    rig.feed(post("Content-Length: 500000") + String(repeating: "x", count: 500_000))
    rig.feed("GET /\(String(repeating: "p", count: 5000)) HTTP/1.1\r\nHost: a\r\n\r\n" + get + get)
    #expect(rig.transcript.statuses == [200, 200, 200, 200])
    #expect(rig.machine.input.capacity == 0)
    #expect(rig.machine.output.capacity == 0)
    #expect(rig.spare.input.capacity <= ReceiveBuffer.usualBytes)
    #expect(1...1024 ~= rig.spare.output.capacity)
  }

  @Test("connections that lend each other memory keep their bytes apart")
  func lendsMemory() {
    var rigs = [ConnectionRig(), ConnectionRig()]
    var spare = SpareBuffers()
    let texts = ["aaaa", "bbbb"].map { Array((post("Content-Length: 4") + $0 + get).utf8) }
    for position in texts[0].indices {
      for index in rigs.indices {
        swap(&rigs[index].spare, &spare)
        rigs[index].feed(texts[index][position...position])
        swap(&rigs[index].spare, &spare)
      }
    }
    #expect(rigs.map(\.transcript.requests) == [["POST / aaaa", "GET /"], ["POST / bbbb", "GET /"]])
  }

  @Test("a connection with an answer that is not sent keeps it when it gives memory back")
  func keepsUnsentBytes() {
    var rig = ConnectionRig()
    rig.machine.borrow(from: &rig.spare)
    _ = rig.machine.receive { space in
      space.copyBytes(from: get.utf8)
      return get.utf8.count
    }
    _ = rig.machine.received()
    _ = rig.machine.answered(ResponseHead(status: .ok))
    let count = rig.machine.output.count
    rig.machine.output.send { _ in 10 }
    rig.machine.giveBack(to: &rig.spare)
    #expect(rig.machine.output.count == count - 10)
    #expect(rig.spare.output.capacity == 0)
  }
}
