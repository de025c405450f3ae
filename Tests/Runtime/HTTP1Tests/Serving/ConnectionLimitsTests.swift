import HTTPTypes
import Reactors
import Testing

@testable import HTTP1

private let hello = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
private let health = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"

@Suite(.timeLimit(.minutes(1))) struct ConnectionLimitsTests {
  @Test("the last request that a connection may carry is answered with a close, and the one before is not")
  func requestsPerConnection() async throws {
    try await ServiceRig.run(testRoutes(), configuration: .limited { $0.requestsMax = 3 }) { rig in
      let client = try TestClient(rig.address)
      for _ in 0..<2 {
        client.send(hello)
        #expect(!(await client.read(until: "hello")).contains("Connection: close"))
      }
      client.send(hello)
      #expect(await client.readToEnd().contains("Connection: close\r\n"))
    }
  }

  @Test("the last request may be one whose content is refused, and that answer closes too")
  func refusedContentAsLast() async throws {
    try await ServiceRig.run(testRoutes(), configuration: .limited { $0.requestsMax = 1 }) { rig in
      let client = try TestClient(rig.address)
      client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n")
      let answer = await client.readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 413 ") && answer.contains("Connection: close\r\n"))
    }
  }

  @Test("requests that were pipelined behind the last are not answered")
  func pipelinedBeyondLast() async throws {
    try await ServiceRig.run(testRoutes(), configuration: .limited { $0.requestsMax = 3 }) { rig in
      let client = try TestClient(rig.address)
      client.send(String(repeating: hello, count: 5))
      #expect(await client.readToEnd().split(separator: "HTTP/1.1 200").count == 3)
    }
  }

  @Test("a full service still answers health checks, says 503 to others, and serves again when there is room")
  func healthChecksWhenFull() async throws {
    let configuration = HTTPServiceConfiguration.limited {
      $0.totalMax = 2
      $0.reserveMax = 1
    }
    try await ServiceRig.run(testRoutes(), configuration: configuration) { rig in
      var clients = try await rig.openConnections(2)
      #expect(try await rig.exchange(health).hasPrefix("HTTP/1.1 204 "))
      let answer = try await rig.exchange(hello)
      #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("Retry-After: 1\r\n"))
      #expect(answer.contains("Content-Type: application/problem+json\r\n") && answer.contains("Connection: close\r\n"))
      clients.removeLast()
      while await rig.service.connectionCount > 1 { await Task.yield() }
      let client = try TestClient(rig.address)
      client.send(hello)
      #expect(await client.read(until: "hello").hasPrefix("HTTP/1.1 200 "))
      _ = consume clients
    }
  }

  @Test("with the reserve full too, a connection is turned away before it asks")
  func turnsAway() async throws {
    let configuration = HTTPServiceConfiguration.limited {
      $0.totalMax = 1
      $0.reserveMax = 0
    }
    try await ServiceRig.run(testRoutes(), configuration: configuration) { rig in
      let clients = try await rig.openConnections(1)
      let answer = try await TestClient(rig.address).readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("\r\nDate: "))
      #expect(await rig.service.connectionCount == 1)
      _ = consume clients
    }
  }

  @Test("a connection of the reserve that says nothing is soon closed")
  func reserveIsShort() async throws {
    var configuration = HTTPServiceConfiguration.short(\.reserve)
    configuration.connections.totalMax = 0
    try await ServiceRig.run(testRoutes(), configuration: configuration) { rig in
      let client = try TestClient(rig.address)
      #expect(await client.readToEnd() == "")
    }
  }

  @Test(
    "content that trickles in does not keep a connection of the reserve, nor does a handshake",
    arguments: [false, true])
  func reserveIsShortThroughout(_ isSecure: Bool) async throws {
    var configuration = HTTPServiceConfiguration.short(\.reserve)
    configuration.connections.totalMax = 0
    for other in [\HTTPTimeouts.handshake, \.body, \.bodyGrace] {
      configuration.timeouts[keyPath: other] = .seconds(3600)
    }
    let tls = isSecure ? try TestIdentity().server() : nil
    try await ServiceRig.run(testRoutes(), configuration: configuration, tls: tls) { rig in
      let client = try TestClient(rig.address)
      if !isSecure { client.send("GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1") }
      let answer = await client.readToEnd()
      #expect(isSecure ? answer.isEmpty : answer.hasPrefix("HTTP/1.1 408 "))
    }
  }

  @Test("a peer has as many connections as it may have, and 429 says so at the next")
  func peerLimit() async throws {
    try await ServiceRig.run(testRoutes(), configuration: .limited { $0.perPeerMax = 2 }) { rig in
      var clients = try await rig.openConnections(2)
      let answer = try await TestClient(rig.address).readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 429 ") && answer.contains("Retry-After: 1\r\n"))
      clients.removeLast()
      while await rig.service.connectionCount > 1 { await Task.yield() }
      clients += try await rig.openConnections(1)
      #expect(await rig.service.connectionCount == 2)
    }
  }

  @Test("over a Unix socket a peer may have any number")
  func unixPeers() async throws {
    let address = SocketAddress(unixPath: "/tmp/tacet-peers-\(Int.random(in: 0..<1 << 40)).sock")
    try await ServiceRig.run(testRoutes(), on: address, configuration: .limited { $0.perPeerMax = 1 }) { rig in
      let clients = try await rig.openConnections(3)
      #expect(await rig.service.connectionCount == 3)
      _ = consume clients
    }
  }
}

extension HTTPServiceConfiguration {
  static func limited(_ change: (inout ConnectionLimits) -> Void) -> HTTPServiceConfiguration {
    var configuration = HTTPServiceConfiguration()
    change(&configuration.connections)
    return configuration
  }
}

extension ServiceRig {
  /// Connections that have been served and are kept.
  func openConnections(_ count: Int) async throws -> [TestClient] {
    let clients = try (0..<count).map { _ in try TestClient(address) }
    for client in clients {
      client.send(hello)
      #expect(await client.read(until: "hello").hasPrefix("HTTP/1.1 200 "))
    }
    return clients
  }
}
