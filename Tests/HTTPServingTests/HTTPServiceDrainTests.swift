import HTTPTypes
import Reactors
import Testing

@testable import HTTPServing

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
}
