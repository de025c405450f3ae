import Glibc
import HTTPTypes
import Logging
import Reactors
import Synchronization
import TestReactors
import Testing

@testable import HTTP1

@Suite(.timeLimit(.minutes(5)), .serialized) struct ConnectionAcceptorTests {
  @Test("every reactor serves connections of the same address")
  func spreadsConnections() async throws {
    let seen = Mutex<Set<String>>([])
    var routes = HTTPRoutes()
    routes.add(.get, "/") { _, reactor in
      seen.withLock { _ = $0.insert(reactor.name) }
      return HTTPServerResponse(status: .ok)
    }
    try await ServiceRig.run(routes, reactorCount: 2) { rig in
      for _ in 0..<200 where seen.withLock({ $0.count < 2 }) {
        _ = try await rig.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      }
      #expect(seen.withLock { $0.count } == 2)
    }
  }

  @Test("with no descriptors left the reactor rests, and serves again when there are some")
  func restsWhenExhausted() async throws {
    // In a process of its own, because the limit on descriptors is the process's.
    await #expect(processExitsWith: .success) {
      try await ServiceRig.run(testRoutes()) { rig in
        let clients = try (0..<8).map { _ in try TestClient(rig.address) }
        for client in clients {
          client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
          _ = await client.read(until: "hello")
        }
        let waiting = try TestClient(rig.address, afterSocket: { limitDescriptors(to: 0) })
        waiting.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        let ticks = try await quietTicks(rig.reactors[0])
        limitDescriptors(to: 1024)
        let answer = await waiting.read(until: "hello")
        guard ticks < 20, answer.hasSuffix("hello") else { exit(EXIT_FAILURE) }
      }
    }
  }

  @Test("with no descriptors left a connection is told so, and the others are served meanwhile")
  func turnsAwayWhenExhausted() async throws {
    await #expect(processExitsWith: .success) {
      let meter = HTTPServiceMeter()
      try await ServiceRig.run(testRoutes(), meter: meter) { rig in
        let served = try TestClient(rig.address, sending: "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = await served.read(until: "hello")
        var answers: [String] = []
        for _ in 0..<3 {
          // The client's own descriptor is the lowest free one: all below are taken, and none above may be.
          let refused = try TestClient(rig.address, afterSocket: { limitDescriptors(to: lowestFreeDescriptor()) })
          answers.append(await refused.readToEnd())
          // Its turn comes when the reserve has its descriptor back, which the next client could otherwise take.
          try await rig.reactors[0].perform { _ in }
          limitDescriptors(to: 1024)
        }
        served.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = await served.read(until: "hello")
        let areTold = answers.allSatisfy { $0.hasPrefix("HTTP/1.1 503 ") && $0.contains("Retry-After: 1\r\n") }
        let turnedAway = await meter.read().turnedAway
        guard areTold, answer.hasPrefix("HTTP/1.1 200 "), await rig.service.connectionCount == 1,
          turnedAway == [.descriptors: 3]
        else {
          exit(EXIT_FAILURE)
        }
      }
    }
  }
}

/// The number that the next opened descriptor would have.
private func lowestFreeDescriptor() -> UInt {
  let descriptor = open("/dev/null", O_RDONLY)
  close(descriptor)
  return UInt(descriptor)
}

/// How many ticks the reactor makes in fifty milliseconds on its own timer.
func quietTicks(_ reactor: Reactor) async throws -> Int {
  try await reactor.perform { reactor in
    let before = reactor.ticks
    await reactor.sleep(for: .milliseconds(50))
    return reactor.ticks - before
  }
}

/// Lets the process open no descriptor numbered this or higher.
private func limitDescriptors(to count: UInt) {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  limit.rlim_cur = count
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

private let hello = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
private let health = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"

@Suite(.timeLimit(.minutes(5))) struct ConnectionLimitsTests {
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
      let client = try TestClient(rig.address, sending: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n")
      let answer = await client.readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 413 ") && answer.contains("Connection: close\r\n"))
    }
  }

  @Test("requests that were pipelined behind the last are not answered")
  func pipelinedBeyondLast() async throws {
    try await ServiceRig.run(testRoutes(), configuration: .limited { $0.requestsMax = 3 }) { rig in
      let client = try TestClient(rig.address, sending: String(repeating: hello, count: 5))
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
      try await until { await rig.service.connectionCount <= 1 }
      let client = try TestClient(rig.address, sending: hello)
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
      try await until { await rig.service.connectionCount <= 1 }
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

@Suite(.timeLimit(.minutes(5)), .serialized) struct SlowPeersTests {
  @Test("two hundred connections that send a byte now and then stop nobody, and are refused when their time is over")
  func slowLoris() async throws {
    var configuration = HTTPServiceConfiguration()
    configuration.timeouts.head = .seconds(3)
    try await ServiceRig.run(testRoutes(), configuration: configuration) { rig in
      let slow = try (0..<200).map { _ in try TestClient(rig.address) }
      let healthy = try TestClient(rig.address)
      // Each round is a byte from everybody and a healthy request, for as long as the heads take to be refused.
      for byte in "GET /hello HTTP/1.1\r\nHost: aaaaaaaaaaaaaaaa" {
        for client in slow { client.send(String(byte)) }
        healthy.send(hello)
        #expect(await healthy.readAnswer().hasSuffix("hello"))
      }
      for client in slow { #expect(await client.readToEnd().hasPrefix("HTTP/1.1 408 ")) }
      try await until { await rig.service.connectionCount <= 1 }
      healthy.send(hello)
      #expect(await healthy.readAnswer().hasSuffix("hello"))
    }
  }

  @Test("two thousand idle connections stop nobody, and every one of them still works")
  func idle() async throws {
    DescriptorLimit.raise()
    var configuration = HTTPServiceConfiguration.limited { $0.perPeerMax = 3000 }
    configuration.timeouts.idle = .seconds(3600)
    try await ServiceRig.run(testRoutes(), configuration: configuration) { rig in
      let idle = try await rig.openConnections(2000)
      #expect(await rig.service.connectionCount == 2000)
      let ticks = try await quietTicks(rig.reactors[0])
      #expect(ticks < 20)
      let healthy = try TestClient(rig.address)
      for _ in 0..<100 {
        healthy.send(hello)
        #expect(await healthy.readAnswer().hasSuffix("hello"))
      }
      for client in idle {
        client.send(hello)
        #expect(await client.readAnswer().hasSuffix("hello"))
      }
    }
  }
}
