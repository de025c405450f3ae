import CLinux
import HTTPTypes
import Reactors
import Synchronization
import Testing

@testable import HTTP1

@Suite(.timeLimit(.minutes(1))) struct HTTPConnectionTests {
  @Test("a thousand requests cross no thread, and every handler runs on its reactor's thread")
  func crossesNoThread() async throws {
    let threads = Mutex<[Int32: Int]>([:])
    var routes = HTTPRoutes()
    routes.add(.get, "/") { _, reactor in
      await reactor.sleep(for: .zero)
      threads.withLock { $0[clinux_thread_id(), default: 0] += 1 }
      return HTTPServerResponse(status: .ok)
    }
    try await ServiceRig.run(routes) { rig in
      let reactor = rig.reactors[0]
      let own = try await reactor.perform { _ in clinux_thread_id() }
      let client = try TestClient(rig.address)
      let before = reactor.executor.jobsFromOtherThreads
      for _ in 0..<1000 {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
      }
      #expect(reactor.executor.jobsFromOtherThreads == before)
      #expect(threads.withLock { $0 } == [own: 1000])
    }
  }

  @Test("bytes that arrive while a handler runs do not keep the reactor busy")
  func ignoresEarlyBytes() async throws {
    let gate = Gate()
    try await ServiceRig.run(gatedRoutes(gate)) { rig in
      let client = try TestClient(rig.address)
      client.send("GET /gated HTTP/1.1\r\nHost: a\r\n\r\n")
      await gate.entered()
      client.send("GET /gated HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      let ticks = try await quietTicks(rig.reactors[0])
      #expect(ticks < 20)
      gate.open()
      #expect(await client.readToEnd().split(separator: "HTTP/1.1 200").count == 2)
    }
  }

  @Test("a client that vanishes while its handler runs does not keep the reactor busy")
  func ignoresVanishedClients() async throws {
    let gate = Gate()
    try await ServiceRig.run(gatedRoutes(gate)) { rig in
      var client: TestClient? = try TestClient(rig.address)
      client?.send("GET /gated HTTP/1.1\r\nHost: a\r\n\r\n")
      await gate.entered()
      client?.resetOnClose()
      client = nil
      #expect(try await quietTicks(rig.reactors[0]) < 20)
      gate.open()
      while await rig.service.connectionCount > 0 { await Task.yield() }
    }
  }
}
