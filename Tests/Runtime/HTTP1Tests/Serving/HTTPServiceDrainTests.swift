import Dispatch
import HTTPTypes
import Reactors
import Testing

@testable import HTTP1

@Suite(.timeLimit(.minutes(1))) struct HTTPServiceDrainTests {
  @Test("draining refuses new connections, closes quiet ones and lets the request in flight finish")
  func drainsGracefully() async throws {
    let gate = Gate()
    try await ServiceRig.run(gatedRoutes(gate)) { rig in
      let quiet = try TestClient(rig.address)
      quiet.send("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await quiet.read(until: "\r\n\r\n")
      let busy = try TestClient(rig.address)
      busy.send("GET /gated HTTP/1.1\r\nHost: a\r\n\r\n")
      await gate.entered()
      async let drained = rig.service.drain(within: .seconds(10))
      #expect(await quiet.readToEnd() == "")
      #expect(throws: TestClient.ConnectFailed.self) { _ = try TestClient(rig.address) }
      gate.open()
      let answer = await busy.readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("Connection: close\r\n"))
      _ = consume busy
      #expect(await drained)
    }
  }

  @Test("draining gives up at its deadline")
  func drainsWithinDeadline() async throws {
    let gate = Gate()
    try await ServiceRig.run(gatedRoutes(gate)) { rig in
      let busy = try TestClient(rig.address)
      busy.send("GET /gated HTTP/1.1\r\nHost: a\r\n\r\n")
      await gate.entered()
      let isEmpty = await rig.service.drain(within: .milliseconds(20))
      #expect(!isEmpty)
      gate.open()
      _ = await busy.readToEnd()
    }
  }

  @Test("a head that is being received when draining begins is answered")
  func finishesBegunHeads() async throws {
    try await ServiceRig.run(gatedRoutes(Gate())) { rig in
      let client = try TestClient(rig.address)
      client.send("GET /quick HTTP/1.1\r\nHost: a\r\n\r\nGET /quick HTTP/1.1\r\n")
      _ = await client.read(until: "\r\n\r\n")
      async let drained = rig.service.drain(within: .seconds(10))
      while (try? TestClient(rig.address)) != nil { await Task.yield() }
      client.send("Host: a\r\n\r\n")
      #expect(await client.readToEnd().contains("Connection: close\r\n"))
      client.finishSending()
      #expect(await drained)
    }
  }

  @Test("connections that the kernel has made and nobody has accepted are answered, however many")
  func answersTheQueue() async throws {
    let bolt = DispatchSemaphore(value: 0)
    let isBolted = DispatchSemaphore(value: 0)
    var routes = gatedRoutes(Gate())
    routes.add(.get, "/bolted") { _, _ in
      // Holds the reactor itself, so that nothing is accepted.
      isBolted.signal()
      bolt.wait()
      return HTTPServerResponse(status: .ok)
    }
    try await ServiceRig.run(routes) { rig in
      let bolter = try TestClient(rig.address)
      bolter.send("GET /bolted HTTP/1.1\r\nHost: a\r\n\r\n")
      await TestClient.onOwnThread { isBolted.wait() }
      let clients = try (0..<200).map { _ in try TestClient(rig.address) }
      for client in clients { client.send("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n") }
      async let drained = rig.service.drain(within: .seconds(10))
      bolt.signal()
      for client in clients { #expect(await client.readToEnd().hasPrefix("HTTP/1.1 200 ")) }
      _ = (consume bolter, consume clients)
      #expect(await drained)
    }
  }

  @Test("a request that comes on a kept connection while the service says farewell is answered, as the last one")
  func answersFarewell() async throws {
    let gate = Gate()
    try await ServiceRig.run(gatedRoutes(gate)) { rig in
      let kept = try TestClient(rig.address)
      kept.send("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await kept.read(until: "\r\n\r\n")
      let busy = try TestClient(rig.address)
      busy.send("GET /gated HTTP/1.1\r\nHost: a\r\n\r\nGET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
      await gate.entered()
      kept.send("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
      async let drained = rig.service.drain(within: .seconds(10))
      #expect(await kept.readToEnd().hasPrefix("HTTP/1.1 200 "))
      gate.open()
      let answers = await busy.readToEnd()
      #expect(answers.split(separator: "HTTP/1.1 200 ").count == 1 && answers.contains("Connection: close\r\n"))
      _ = (consume kept, consume busy)
      #expect(await drained)
    }
  }

  @Test("a connection that asks nothing is closed after a while; one that asks in that while is answered")
  func firstRequests() async throws {
    try await ServiceRig.run(gatedRoutes(Gate())) { rig in
      let idle = try TestClient(rig.address)
      idle.send("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await idle.read(until: "\r\n\r\n")
      let silent = try TestClient(rig.address)
      let late = try TestClient(rig.address)
      async let drained = rig.service.drain(within: .seconds(10))
      // It is closed when the farewell is over.
      #expect(await idle.readToEnd() == "")
      late.send("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(await late.readToEnd().contains("Connection: close\r\n"))
      #expect(await silent.readToEnd() == "")
      _ = consume late
      #expect(await drained)
    }
  }
}
