import HTTPTypes
import Reactors
import Synchronization
import Testing

@testable import HTTP1

@Suite(.timeLimit(.minutes(1))) struct ConnectionRegistryTests {
  @Test("a head that does not end in time is refused, and bytes that trickle in do not help")
  func endsSlowHeads() async throws {
    try await ServiceRig.run(testRoutes(), configuration: .short(\.head)) { rig in
      let client = try TestClient(rig.address)
      client.send("GET /hello HTTP/1.1\r\n")
      #expect(await client.readToEnd().hasPrefix("HTTP/1.1 408 "))
    }
  }

  @Test("a connection that says nothing is closed without a word")
  func endsSilence() async throws {
    try await ServiceRig.run(testRoutes(), configuration: .short(\.head)) { rig in
      let client = try TestClient(rig.address)
      #expect(await client.readToEnd() == "")
    }
  }

  @Test("content that does not end in time is refused")
  func endsSlowBodies() async throws {
    try await ServiceRig.run(testRoutes(), configuration: .short(\.body)) { rig in
      let client = try TestClient(rig.address)
      client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na")
      #expect(await client.readToEnd().hasPrefix("HTTP/1.1 408 "))
    }
  }

  @Test("a connection without a further request is closed")
  func endsIdleness() async throws {
    try await ServiceRig.run(testRoutes(), configuration: .short(\.idle)) { rig in
      let client = try TestClient(rig.address)
      client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await client.readToEnd().hasSuffix("\r\n\r\nhello"))
    }
  }

  @Test("a peer that does not take its answer is given up")
  func endsUnreadAnswers() async throws {
    try await ServiceRig.run(testRoutes(), configuration: .short(\.write)) { rig in
      let client = try TestClient(rig.address)
      client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
      while await rig.service.connectionCount == 0 { await Task.yield() }
      while await rig.service.connectionCount > 0 { await Task.yield() }
      #expect(await client.readToEnd().utf8.count < 32 * 1024 * 1024)
    }
  }

  @Test("a peer that takes no answers is given up once, however many requests it has sent")
  func endsUnreadPipelines() async throws {
    let calls = Mutex(0)
    var routes = HTTPRoutes()
    routes.add(.get, "/large") { _, _ in
      calls.withLock { $0 += 1 }
      return HTTPServerResponse(status: .ok, body: [UInt8](repeating: 0, count: 32 * 1024 * 1024))
    }
    try await ServiceRig.run(routes, configuration: .short(\.write)) { rig in
      let client = try TestClient(rig.address)
      client.send(String(repeating: "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", count: 10))
      while await rig.service.connectionCount == 0 { await Task.yield() }
      while await rig.service.connectionCount > 0 { await Task.yield() }
      #expect(calls.withLock { $0 } == 1)
      _ = consume client
    }
  }

  @Test("content that is slower than its rate is refused long before its whole time is over")
  func endsTricklingBodies() async throws {
    var configuration = HTTPServiceConfiguration.short(\.bodyGrace)
    configuration.timeouts.body = .seconds(3600)
    try await ServiceRig.run(testRoutes(), configuration: configuration) { rig in
      let client = try TestClient(rig.address)
      client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\na")
      #expect(await client.readToEnd().hasPrefix("HTTP/1.1 408 "))
    }
  }
}

extension HTTPServiceConfiguration {
  /// One time-out so short that a test waits for it; the others as they are.
  static func short(_ timeout: WritableKeyPath<HTTPTimeouts, Duration>) -> HTTPServiceConfiguration {
    var configuration = HTTPServiceConfiguration()
    configuration.timeouts[keyPath: timeout] = .milliseconds(40)
    return configuration
  }
}
