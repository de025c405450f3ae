import HTTP1
import HTTPTypes
import Reactors
import Synchronization
import Testing

@testable import HTTPTransfers

@Suite("What servers do to transfers", .timeLimit(.minutes(5)))
struct ServerConductTests {
  @Test("an answer in chunks is put together, interim answers and trailers are left out")
  func chunks() async throws {
    let answer =
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Kept: yes\r\n\r\n"
      + "5\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: late\r\n\r\n"
    try await TransferRig.run(ByteServer.Script(answer: answer, closes: false)) { rig in
      for _ in 0..<2 {
        let response = try await rig.get("/").get()
        #expect(response.status == .ok)
        #expect(String(decoding: response.body, as: UTF8.self) == "hello world")
        #expect(response.fields.map(\.name.canonicalName) == ["transfer-encoding", "x-kept"])
      }
      #expect(await rig.get("/", bodyBytesMax: 11).status == 200)
      #expect(await rig.get("/", bodyBytesMax: 10).code == .tooLarge)
    }
  }

  @Test("an answer that breaks off anywhere is none")
  func cuts() async throws {
    let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)
    for count in 0..<answer.count {
      let script = ByteServer.Script(answer: String(decoding: answer[..<count], as: UTF8.self))
      try await TransferRig.run(script) { rig in
        let code = try #require(await rig.get("/").code, "after \(count) bytes")
        #expect([.connectionLost, .invalidAnswer, .failed].contains(code), "after \(count) bytes")
      }
    }
  }

  @Test(
    "what is not HTTP is no answer", arguments: ["hello\r\n\r\n", "SSH-2.0-OpenSSH\r\n", "HTTP/9.9 200 OK\r\n\r\n"])
  func strangers(_ answer: String) async throws {
    try await TransferRig.run(ByteServer.Script(answer: answer)) { rig in
      let result = await rig.get("/")
      #expect(result.code == .invalidRequest || result.code == .invalidAnswer || result.code == .failed)
    }
  }

  @Test("a head without an end is given up")
  func endlessHead() async throws {
    let answer =
      "HTTP/1.1 200 OK\r\n" + String(repeating: "X-Line: \(String(repeating: "x", count: 90))\r\n", count: 700)
    try await TransferRig.run(ByteServer.Script(answer: answer, closes: false)) { rig in
      #expect(await rig.get("/").code == .tooLarge)
    }
  }

  @Test("a server that falls silent within its answer is left at the deadline")
  func silence() async throws {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
    try await TransferRig.run(ByteServer.Script(answer: answer, closes: false)) { rig in
      #expect(await rig.get("/", deadline: .milliseconds(50)).code == .timedOut)
    }
  }

  @Test("a request that may be sent once is not sent again when a kept connection ends", arguments: [true, false])
  func sentOnce(_ isSentOnce: Bool) async throws {
    let counter = RequestCounter()
    var routes = HTTPRoutes()
    routes.add(.post, "/push") { _, _ in
      // The second request comes over the connection of the first, and ends it.
      if counter.next() == 2 { throw HTTPHangUp() }
      return HTTPServerResponse(status: .noContent)
    }
    try await TransferRig.run(routes) { rig in
      var request = HTTPTransferRequest(.post, url: rig.origin + "/push", body: [1])
      request.isSentOnce = isSentOnce
      #expect(await rig.send(request).status == 204)
      let second = await rig.send(request)
      #expect(second.code == (isSentOnce ? .connectionLost : nil))
      #expect(counter.count == (isSentOnce ? 2 : 3))
      #expect(await rig.send(request).status == 204)
    }
  }

  private final class RequestCounter: Sendable {
    private let requests = Mutex(0)
    var count: Int { requests.withLock { $0 } }

    func next() -> Int {
      requests.withLock { count in
        count += 1
        return count
      }
    }
  }

  @Test("where nobody listens, nobody is reached")
  func refused() async throws {
    try await TransferRig.run(HTTPRoutes()) { rig in
      // Port 1 is the multiplexer of RFC 1078, which nobody has.
      #expect(await rig.send(HTTPTransferRequest(url: "http://127.0.0.1:1/")).code == .unreachable)
    }
  }
}

@Suite("Whom transfers believe", .timeLimit(.minutes(5)))
struct TransferTrustTests {
  private let authority: CertificateAuthority
  private let routes: HTTPRoutes

  init() throws {
    authority = try CertificateAuthority(name: "transfer test authority")
    var routes = HTTPRoutes()
    routes.add(.get, "/hello") { _, _ in HTTPServerResponse(status: .ok, body: Array("hello".utf8)) }
    self.routes = routes
  }

  private func server(for host: String) throws -> TLSContext {
    let identity = try authority.issue(for: [host])
    return try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: ["http/1.1"],
      requiresProtocol: false)
  }

  private func code(_ trust: HTTPTransferTrust, host: String = "127.0.0.1") async throws -> HTTPTransferError.Code? {
    var configuration = HTTPTransferConfiguration()
    configuration.trust = trust
    let found = Found()
    try await TransferRig.run(routes, configuration: configuration, tls: try server(for: host)) { rig in
      let result = await rig.get("/hello")
      if result.code == nil { #expect(result.text == "hello") }
      await found.set(result.code)
    }
    return await found.code
  }

  private actor Found {
    var code: HTTPTransferError.Code?
    func set(_ code: HTTPTransferError.Code?) { self.code = code }
  }

  @Test("the authority that was given is believed")
  func trusted() async throws {
    #expect(try await code(.only(authority.certificate)) == nil)
  }

  @Test("no other authority is, whether the system's or another own one")
  func untrusted() async throws {
    #expect(try await code(.system) == .untrusted)
    let other = try CertificateAuthority(name: "another authority")
    #expect(try await code(.only(other.certificate)) == .untrusted)
  }

  @Test("a certificate of another host is not believed")
  func otherHost() async throws {
    #expect(try await code(.only(authority.certificate), host: "localhost") == .untrusted)
  }

  @Test("without a certificate among the authorities nobody is believed")
  func unusable() async throws {
    #expect(try await code(.only("nothing")) != nil)
  }
}
