import Foundation
import HTTP1
import HTTPTypes
import TestReactors
import Testing

private let closing = "Host: a\r\nConnection: close\r\n"

/// Lets in who says `x-key: good`, with 10 bytes who says `short`, and reads nothing of others.
private func admittingRoutes() -> HTTPRoutes {
  var routes = HTTPRoutes()
  routes.add(.post, "/echo", bodyBytesMax: 100 * 1024) { request, _ in
    let key = request.head.fields[HTTPField.Name("x-key")!]
    guard key == "good" || key == "short" else { throw ProblemDetails(.unauthorized) }
    return HTTPAdmitted(bodyBytesMax: key == "short" ? 10 : nil) { request, _ in
      HTTPServerResponse(status: .ok, body: request.body)
    }
  }
  routes.add(.get, "/hello") { _, _ in HTTPServerResponse(status: .ok, body: Array("hello".utf8)) }
  routes.add(.get, "/quick", immediate: { _, _ in HTTPServerResponse(status: .ok, body: Array("quick".utf8)) })
  return routes
}

@Suite("Who asks is settled before content is read", .timeLimit(.minutes(5)))
struct AdmissionTests {
  @Test(
    "a stranger is answered without content, and not told to go on",
    arguments: ["Content-Length: 1000", "Transfer-Encoding: chunked", "Content-Length: 9\r\nExpect: 100-continue"])
  func stranger(framing: String) async throws {
    try await ServiceRig.run(admittingRoutes()) { rig in
      let client = try TestClient(rig.address, sending: "POST /echo HTTP/1.1\r\n\(closing)\(framing)\r\n\r\n")
      #expect(await client.readToEnd().hasPrefix("HTTP/1.1 401 "))
    }
  }

  @Test("who is let in is asked to go on, and handled when the content is there, in one piece or in many")
  func admitted() async throws {
    try await ServiceRig.run(admittingRoutes()) { rig in
      let head = "POST /echo HTTP/1.1\r\n\(closing)X-Key: good\r\nContent-Length: 5\r\n"
      #expect(try await rig.exchange(head + "\r\nagain").hasSuffix("\r\n\r\nagain"))
      let client = try TestClient(rig.address, sending: head + "Expect: 100-continue\r\n\r\n")
      #expect(await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
      for letter in "again" {
        client.send(String(letter))
        await Task.yield()
      }
      #expect(await client.readToEnd().hasSuffix("\r\n\r\nagain"))
    }
  }

  @Test("requests without content, and those behind a refusal, are served in their order")
  func pipelined() async throws {
    try await ServiceRig.run(admittingRoutes()) { rig in
      let answer = try await rig.exchange(
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
          + "POST /echo HTTP/1.1\r\nHost: a\r\nX-Key: good\r\n\r\n"
          + "GET /quick HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" + "GET /hello HTTP/1.1\r\n\(closing)\r\n")
      let statuses = answer.split(separator: "HTTP/1.1 ").map { $0.prefix(3) }
      #expect(statuses == ["401", "200", "200", "200"])
      #expect(answer.hasSuffix("hello"))
    }
  }

  @Test("a caller's own limit holds", arguments: [(10, "200"), (11, "413")])
  func ownLimit(bytes: Int, status: String) async throws {
    try await ServiceRig.run(admittingRoutes()) { rig in
      let body = String(repeating: "x", count: bytes)
      let head = "POST /echo HTTP/1.1\r\n\(closing)X-Key: short\r\n"
      let whole = try await rig.exchange(head + "Content-Length: \(bytes)\r\n\r\n" + body)
      #expect(whole.hasPrefix("HTTP/1.1 \(status) "))
      let chunked = try await rig.exchange(
        head + "Transfer-Encoding: chunked\r\n\r\n\(String(bytes, radix: 16))\r\n\(body)\r\n0\r\n\r\n")
      #expect(chunked.hasPrefix("HTTP/1.1 \(status) "))
    }
  }
}

extension TestClient {
  /// What has arrived by now; nil for nothing.
  fileprivate var arrived: String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }
}

@Suite("The memory of all connections is bounded", .timeLimit(.minutes(5)))
struct BufferBudgetTests {
  private static let unfinished = "GET /hello HTTP/1.1\r\nHost: a\r\nX-Long: " + String(repeating: "x", count: 8000)

  private static var configuration: HTTPServiceConfiguration {
    var configuration = HTTPServiceConfiguration()
    configuration.connections.strangersBytesMax = 64 * 1024
    configuration.limits.bodyBytesMax = 1024
    configuration.connections.callersBytesMax = 64 * 1024
    return configuration
  }

  @Test("beyond it a request that grows gets 503 and the close; what comes whole is served, and others later")
  func strangers() async throws {
    try await ServiceRig.run(admittingRoutes(), configuration: Self.configuration) { rig in
      var answer = ""
      var clients: [TestClient] = []
      while !answer.hasPrefix("HTTP/1.1 503 "), clients.count < 32 {
        let client = try TestClient(rig.address, sending: Self.unfinished)
        // Answered after what was sent before on another connection was read.
        #expect(try await rig.exchange("GET /hello HTTP/1.1\r\n\(closing)\r\n").hasSuffix("hello"))
        clients.append(client)
        answer = clients.compactMap(\.arrived).first ?? ""
      }
      #expect((4...16).contains(clients.count))
      #expect(answer.contains("Retry-After: 1\r\n") && answer.contains("Connection: close\r\n"))
      // Callers that were let in have memory of their own.
      let body = String(repeating: "x", count: 20_000)
      let caller = try TestClient(rig.address)
      caller.send("POST /echo HTTP/1.1\r\n\(closing)X-Key: good\r\nContent-Length: 20001\r\n\r\n" + body)
      #expect(try await rig.exchange("GET /hello HTTP/1.1\r\n\(closing)\r\n").hasSuffix("hello"))
      caller.send("y")
      #expect(await caller.readToEnd().hasSuffix("xy"))
      clients.removeAll()
      try await until { await rig.service.connectionCount == 0 }
      let later = try TestClient(rig.address, sending: Self.unfinished)
      #expect(try await rig.exchange("GET /hello HTTP/1.1\r\n\(closing)\r\n").hasSuffix("hello"))
      later.send("\r\nConnection: close\r\n\r\n")
      #expect(await later.readToEnd().hasSuffix("hello"))
    }
  }
}
