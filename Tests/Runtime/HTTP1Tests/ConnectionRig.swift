import HTTPTypes

@testable import HTTP1

/// What came of feeding bytes to a connection.
struct Transcript: Equatable, CustomStringConvertible {
  /// One line a request: method, target and content.
  var requests: [String] = []
  /// Everything the connection sent.
  var sent = ""
  var closeReason: CloseReason?

  /// The status codes of the answers, in their order; interim answers too.
  var statuses: [Int] {
    sent.split(separator: "HTTP/1.1 ").compactMap { Int($0.prefix(3)) }
  }

  var description: String { "\(requests) \(statuses) \(closeReason.map { "\($0)" } ?? "open")" }
}

/// Does for a machine what a server's input and output would, answering each request with what was asked.
struct ConnectionRig {
  /// A request for this is answered 404 before its content is read.
  static let missingPath = "/missing"
  static let date = HTTPDate(unixSeconds: 784_111_777)

  var machine: ConnectionStateMachine
  var action: ConnectionAction
  var transcript = Transcript()
  var bodyBytesMax = 64
  /// The memory it receives and answers into; given back whenever it waits, as a server does.
  var spare = SpareBuffers()
  private var request = ""

  init(limits: HTTPLimits = HTTPLimits(), bodyBytesMax: Int = 64) {
    machine = ConnectionStateMachine(limits: limits, date: Self.date)
    action = machine.opened()
    self.bodyBytesMax = bodyBytesMax
  }

  /// Feeds pieces one after another and tells what came of it.
  static func run(
    _ pieces: [ArraySlice<UInt8>], limits: HTTPLimits = HTTPLimits(), bodyBytesMax: Int = 64,
    endsWithClose: Bool = false
  ) -> Transcript {
    var rig = ConnectionRig(limits: limits, bodyBytesMax: bodyBytesMax)
    for piece in pieces { rig.feed(piece) }
    if endsWithClose, case .read = rig.action {
      rig.action = rig.machine.peerClosed()
      rig.perform()
    }
    return rig.transcript
  }

  static func run(_ text: String, limits: HTTPLimits = HTTPLimits(), bodyBytesMax: Int = 64) -> Transcript {
    run([Array(text.utf8)[...]], limits: limits, bodyBytesMax: bodyBytesMax)
  }

  mutating func feed(_ text: String) { feed(Array(text.utf8)[...]) }

  mutating func feed(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty, case .read = action {
      machine.borrow(from: &spare)
      let taken = machine.receive { space in
        let count = min(space.count, rest.count)
        space.copyBytes(from: rest.prefix(count))
        return count
      }
      rest = rest.dropFirst(taken)
      action = machine.received()
      perform()
      machine.giveBack(to: &spare)
    }
  }

  /// Performs actions until one waits for the outside.
  mutating func perform() {
    while true {
      flush()
      switch action {
      case .read: return
      case .close(let reason):
        transcript.closeReason = reason
        return
      case .route(let head):
        request = "\(head.method) \(head.target)"
        action =
          head.path == Self.missingPath
          ? machine.answered(ResponseHead(status: .notFound)) : machine.routed(bodyBytesMax: bodyBytesMax)
      case .handle(let body):
        transcript.requests.append(body.isEmpty ? request : "\(request) \(String(decoding: body, as: UTF8.self))")
        action = machine.answered(ResponseHead(status: .ok), body: Array("ok".utf8))
      }
    }
  }

  mutating func flush() {
    machine.output.send { bytes in
      transcript.sent += String(decoding: bytes, as: UTF8.self)
      return bytes.count
    }
  }
}

/// Bytes fed in other ways than whole, which must make no difference: one by one, and in two pieces cut at every
/// position. Of long inputs the cuts are the first and last hundred and every 997th between.
func cuts(of bytes: [UInt8], sampleAbove countMax: Int) -> [[ArraySlice<UInt8>]] {
  let single = bytes.indices.map { bytes[$0...$0] }
  let positions = bytes.indices.dropFirst().filter { position in
    bytes.count <= countMax || position < 100 || position > bytes.count - 100 || position % 997 == 0
  }
  return [single] + positions.map { [bytes[..<$0], bytes[$0...]] }
}

private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
private let bad = "GET / HTTP/1.1\r\nHost : a\r\n\r\n"
private let old = "GET / HTTP/1.0\r\n"

private func post(_ fields: String, _ content: String = "", to path: String = "/") -> String {
  "POST \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(content)"
}

/// What several requests, the end of the input and early answers do to a connection, each with the rule that says so.
let connectionCases: [RequestCase] = persistenceCases + pipelineCases + expectationCases + earlyAnswers + halfCloses

private let persistenceCases: [RequestCase] = [
  .closing("9112-9.3 1.0 closes", old + "\r\n", "GET /"),
  .closing("9112-9.3 1.0 with Host", old + "Host: a\r\n\r\n", "GET /"),
  .accepted("9112-9.3 1.0 keep-alive", old + "Connection: Keep-Alive\r\n\r\n", "GET /"),
  .accepted("9112-9.3 1.0 keep-alive, then more", old + "Connection: keep-alive\r\n\r\n" + get, "GET /", "GET /"),
  .closing("9112-9.3 close wins", old + "Connection: keep-alive, close\r\n\r\n", "GET /"),
  .closing("9112-9.3 close wins over lines", old + "Connection: close\r\nConnection: keep-alive\r\n\r\n", "GET /"),
  .closing("9112-9.3 not the old field", old + "Keep-Alive: 5\r\nProxy-Connection: keep-alive\r\n\r\n", "GET /"),
  .closing("9112-9.3 1.0 absolute form", "GET http://b/ HTTP/1.0\r\n\r\n", "GET http://b/"),
  .closing("9112-9.3 1.0 HEAD", "HEAD / HTTP/1.0\r\n\r\n", "HEAD /"),
  .closing("9112-6.3 1.0 content", "POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi", "POST / hi"),
  .closing("9112-6.3 1.0 without framing", "POST / HTTP/1.0\r\n\r\n", "POST /"),
  .closing("9112-9.6", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET /"),
  .closing("9112-9.6 with content", post("Connection: close\r\nContent-Length: 2", "hi"), "POST / hi"),
  .closing(
    "9112-9.6 with chunks", post("Connection: close\r\nTransfer-Encoding: chunked", "1\r\nx\r\n0\r\n\r\n"),
    "POST / x"),
  .closing("9112-9.6 in a newer minor", "GET / HTTP/1.2\r\nHost: a\r\nConnection: close\r\n\r\n", "GET /"),
  .closing("9110-7.6.1 list", "GET / HTTP/1.1\r\nHost: a\r\nConnection: foo,, CLOSE ,\r\n\r\n", "GET /"),
  .closing("9110-7.6.1 lines", "GET / HTTP/1.1\r\nHost: a\r\nConnection: foo\r\nConnection: close\r\n\r\n", "GET /"),
]

private let pipelineCases: [RequestCase] = [
  .accepted(
    "9112-9.3.2 in order",
    "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /1", "GET /2", "GET /3"),
  .accepted("9112-9.3.2 after content", RequestCase.chunkedHead + "1\r\nx\r\n0\r\n\r\n" + get, "POST /c x", "GET /"),
  .accepted("9112-9.3.2 after trailers", RequestCase.chunkedHead + "0\r\nX: y\r\n\r\n" + get, "POST /c", "GET /"),
  .accepted("9112-9.3.2 after a length", post("Content-Length: 2", "hi") + get, "POST / hi", "GET /"),
  RequestCase(
    rule: "9112-9.3.2 a bad one in the middle", input: get + bad + get, requests: ["GET /"], statuses: [200, 400],
    close: .refused(.malformedField)),
  RequestCase(
    rule: "9112-9.3.2 a bad one after HEAD", input: "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + bad + get,
    requests: ["HEAD /"], statuses: [200, 400], close: .refused(.malformedField)),
  RequestCase(
    rule: "9112-9.3.2 a bad chunk in the middle", input: get + RequestCase.chunkedHead + "g\r\n" + get,
    requests: ["GET /"], statuses: [200, 400], close: .refused(.malformedChunk)),
  RequestCase(
    rule: "9112-9.3.2 content longer than said", input: post("Content-Length: 1", "xy\r\n\r\n") + get,
    requests: ["POST / x"], statuses: [200, 400], close: .refused(.malformedRequestLine)),
  RequestCase(
    rule: "9112-9.3.2 two empty lines between", input: get + "\r\n\r\n" + get, requests: ["GET /"],
    statuses: [200, 400], close: .refused(.emptyLines)),
]

private let expectationCases: [RequestCase] = [
  RequestCase(
    rule: "9110-10.1.1", input: post("Expect: 100-Continue\r\nContent-Length: 2", "hi"), requests: ["POST / hi"],
    statuses: [100, 200]),
  RequestCase(
    rule: "9110-10.1.1 chunks", input: post("Expect: 100-continue\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
    requests: ["POST /"], statuses: [100, 200]),
  RequestCase(
    rule: "9110-10.1.1 repeated", input: post("Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 1", "x"),
    requests: ["POST / x"], statuses: [100, 200]),
  RequestCase(
    rule: "9110-10.1.1 the next does not inherit it",
    input: post("Expect: 100-continue\r\nContent-Length: 1", "x") + post("Content-Length: 1", "y"),
    requests: ["POST / x", "POST / y"], statuses: [100, 200, 200]),
  .accepted("9110-10.1.1 no content", "GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n", "GET /"),
  .accepted("9110-10.1.1 empty content", post("Expect: 100-continue\r\nContent-Length: 0"), "POST /"),
  .closing(
    "9110-10.1.1 ignored in 1.0",
    "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi", "POST / hi"),
  RequestCase(
    rule: "9110-10.1.1 final answer instead", input: post("Expect: 100-continue\r\nContent-Length: 65"),
    statuses: [413], close: .answered),
  RequestCase(
    rule: "9110-10.1.1 early final answer",
    input: post("Expect: 100-continue\r\nContent-Length: 1", "", to: ConnectionRig.missingPath), statuses: [404],
    close: .answered),
]

private let earlyAnswers: [RequestCase] = [
  RequestCase(
    rule: "9112-9.3 short content is thrown away",
    input: post("Content-Length: 5", "hello", to: ConnectionRig.missingPath) + get, requests: ["GET /"],
    statuses: [404, 200]),
  RequestCase(
    rule: "9112-9.3 thrown away content may look like a request",
    input: post("Content-Length: \(get.utf8.count)", get, to: ConnectionRig.missingPath), statuses: [404]),
  RequestCase(
    rule: "9112-9.3 without content", input: post("X: y", to: ConnectionRig.missingPath) + get, requests: ["GET /"],
    statuses: [404, 200]),
  RequestCase(
    rule: "9112-9.3 HEAD", input: "HEAD /missing HTTP/1.1\r\nHost: a\r\n\r\n" + get, requests: ["GET /"],
    statuses: [404, 200]),
  RequestCase(
    rule: "9112-9.6 chunks are not waited for",
    input: post("Transfer-Encoding: chunked", "0\r\n\r\n", to: ConnectionRig.missingPath) + get, statuses: [404],
    close: .answered),
  RequestCase(
    rule: "9112-9.6 long content is not waited for",
    input: post("Content-Length: 65537", "hello", to: ConnectionRig.missingPath), statuses: [404], close: .answered),
  RequestCase(
    rule: "9110-15.5.14 announced, short", input: post("Content-Length: 65", String(repeating: "x", count: 65)) + get,
    requests: ["GET /"], statuses: [413, 200]),
  RequestCase(
    rule: "9110-15.5.14 announced, long", input: post("Content-Length: 70000", "x"), statuses: [413],
    close: .answered),
  RequestCase(
    rule: "9110-15.5.14 announced, the largest number", input: post("Content-Length: 9223372036854775807", "x"),
    statuses: [413], close: .answered),
]

private let halfCloses: [RequestCase] = [
  RequestCase(rule: "9112-9.6 nothing sent", input: "", close: .peerClosed, endsWithClose: true),
  RequestCase(
    rule: "9112-9.6 after a request", input: get, requests: ["GET /"], statuses: [200], close: .peerClosed,
    endsWithClose: true),
  RequestCase(
    rule: "9112-9.6 after two requests", input: get + get, requests: ["GET /", "GET /"], statuses: [200, 200],
    close: .peerClosed, endsWithClose: true),
  RequestCase(
    rule: "9112-2.2 after a line too many", input: get + "\r\n", requests: ["GET /"], statuses: [200],
    close: .peerClosed, endsWithClose: true),
  RequestCase(
    rule: "9112-9.3 in thrown away content", input: post("Content-Length: 5", "he", to: ConnectionRig.missingPath),
    statuses: [404], close: .peerClosed, endsWithClose: true),
  .cutShort("9112-8 in the method", "G"),
  .cutShort("9112-8 after half a line end", "\r"),
  .cutShort("9112-8 after the request line", "GET / HTTP/1.1\r\n"),
  .cutShort("9112-8 before the empty line", "GET / HTTP/1.1\r\nHost: a\r\n"),
  .cutShort("9112-8 in the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\r"),
  .cutShort("9112-8 before content", post("Content-Length: 5")),
  .cutShort("9112-8 in content", post("Content-Length: 5", "hell")),
  .cutShort("9112-8 before chunks", RequestCase.chunkedHead),
  .cutShort("9112-8 in a chunk", RequestCase.chunkedHead + "5\r\nhell"),
  .cutShort("9112-8 after a chunk", RequestCase.chunkedHead + "1\r\nx\r\n"),
  .cutShort("9112-8 before the last line", RequestCase.chunkedHead + "0\r\n"),
  .cutShort("9112-8 in a trailer", RequestCase.chunkedHead + "0\r\nX: y"),
]

extension RequestCase {
  /// A request whose end never comes.
  fileprivate static func cutShort(_ rule: String, _ input: String) -> RequestCase {
    RequestCase(rule: rule, input: input, statuses: [400], close: .refused(.incomplete), endsWithClose: true)
  }
}
