import CLinux
import HTTPTypes
import Logging
import Reactors
import Synchronization
import Testing

@testable import HTTP1

private let close = "Host: a\r\nConnection: close\r\n"

@Suite(.timeLimit(.minutes(1))) struct HTTPServiceTests {
  @Test("requests are answered over every family", arguments: ["127.0.0.1", "::1", "unix"])
  func servesFamilies(_ host: String) async throws {
    let path = "/tmp/tacet-http-\(clinux_thread_id()).sock"
    let address = host == "unix" ? SocketAddress(unixPath: path) : SocketAddress(numericHost: host, port: 0)
    try await ServiceRig.run(testRoutes(), on: address) { rig in
      let answer = try await rig.exchange("GET /hello HTTP/1.1\r\n\(close)\r\n")
      #expect(answer.hasSuffix("\r\n\r\nhello"))
    }
  }

  @Test(
    "each situation has its status",
    arguments: [
      ("GET /hello", "", "", 200), ("HEAD /hello", "", "", 200), ("GET /nothing", "", "", 404),
      ("DELETE /hello", "", "", 405), ("OPTIONS /hello", "", "", 204), ("OPTIONS *", "", "", 204),
      ("POST /echo", "Content-Length: 3\r\n", "abc", 200), ("POST /echo", "Content-Length: 101\r\n", "", 413),
      ("POST /nothing", "Content-Length: 3\r\n", "abc", 404), ("GET /problem", "", "", 422),
      ("GET /failure", "", "", 500),
      ("PUT /json", "Content-Type: application/json\r\nContent-Length: 2\r\n", "{}", 200),
      ("PUT /json", "Content-Type: Application/JSON; charset=utf-8\r\nContent-Length: 2\r\n", "{}", 200),
      ("PUT /json", "Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}", 415),
      ("PUT /json", "Content-Type: application/jsonx\r\nContent-Length: 2\r\n", "{}", 415),
      ("PUT /json", "Content-Length: 2\r\n", "{}", 415), ("PUT /json", "", "", 200),
      ("POST /echo", "Expect: 100-continue\r\nContent-Length: 101\r\n", "", 413), ("G@T /", "", "", 400),
    ])
  func hasStatus(_ line: String, _ fields: String, _ body: String, _ status: Int) async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let answer = try await rig.exchange("\(line) HTTP/1.1\r\n\(close)\(fields)\r\n\(body)")
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
      #expect((status >= 400) == answer.contains("Content-Type: application/problem+json\r\n"))
    }
  }

  @Test("a handler that hangs up says nothing, and its connection ends", arguments: ["/gone", "/gone-at-once"])
  func hangsUp(_ path: String) async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let client = try TestClient(rig.address)
      client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await client.readToEnd() == "")
      while await rig.service.connectionCount > 0 { await Task.yield() }
    }
  }

  @Test(
    "an answer may not be stored, its type not guessed, and nothing is told about the server",
    arguments: [
      "/hello", "/nothing", "/failure",
    ])
  func hasSafeFields(_ path: String) async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let answer = try await rig.exchange("GET \(path) HTTP/1.1\r\n\(close)\r\n")
      for field in ["Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Date: "] {
        #expect(answer.contains("\r\n\(field)"))
      }
      #expect(!answer.contains("\r\nServer:"))
    }
  }

  @Test("a wrong method is told the right ones")
  func tellsAllowedMethods() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let answer = try await rig.exchange("PUT /hello HTTP/1.1\r\n\(close)\r\n")
      #expect(answer.contains("Allow: GET, HEAD, OPTIONS\r\n"))
    }
  }

  @Test("path parameters reach the handler decoded")
  func passesParameters() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let answer = try await rig.exchange("GET /v1/a%20b/items/%2F HTTP/1.1\r\n\(close)\r\n")
      #expect(answer.hasSuffix("\r\n\r\na b|/|/v1/{kind}/items/{id}"))
    }
  }

  @Test("a thrown problem is the answer, with its members")
  func answersProblems() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let answer = try await rig.exchange("GET /problem HTTP/1.1\r\n\(close)\r\n")
      #expect(answer.hasSuffix(#""status":422,"detail":"no \"good\"","field":"title"}"#))
    }
  }

  @Test("a handler's other error is not shown to the client")
  func hidesErrors() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let answer = try await rig.exchange("GET /failure HTTP/1.1\r\n\(close)\r\n")
      #expect(!answer.contains("HandlerFailure"))
    }
  }

  @Test("pipelined requests are answered in order")
  func answersPipelines() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let request = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
      let answer = try await rig.exchange(
        String(repeating: request, count: 2000) + "GET /nothing HTTP/1.1\r\n\(close)\r\n")
      #expect(answer.split(separator: "HTTP/1.1 200 OK").count == 2000)
      #expect(answer.contains("HTTP/1.1 404"))
    }
  }

  @Test("a client that waits for it is told to continue")
  func continues() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let client = try TestClient(rig.address)
      client.send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
      #expect(await client.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
      client.send("abc")
      #expect(await client.read(until: "abc").hasPrefix("HTTP/1.1 200 OK"))
    }
  }

  @Test("an answer larger than the socket's buffers arrives whole at a slow reader")
  func waitsForSlowReaders() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let answer = try await rig.exchange("GET /large HTTP/1.1\r\n\(close)\r\n")
      #expect(answer.utf8.count > 32 * 1024 * 1024)
      #expect(answer.hasSuffix("xxxx"))
    }
  }

  @Test("a refusal reaches a client that is still sending")
  func lingers() async throws {
    try await ServiceRig.run(testRoutes()) { rig in
      let client = try TestClient(rig.address)
      client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
      client.send([UInt8](repeating: 0, count: 100_000))
      client.finishSending()
      #expect(await client.readToEnd().hasPrefix("HTTP/1.1 413 "))
    }
  }
}
