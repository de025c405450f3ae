import Glibc
import HTTPTypes
import Logging
import Reactors
import Synchronization
import Testing

@testable import HTTP1

@Suite(.timeLimit(.minutes(1)), .serialized) struct ConnectionAcceptorTests {
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
        let served = try TestClient(rig.address)
        served.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
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
