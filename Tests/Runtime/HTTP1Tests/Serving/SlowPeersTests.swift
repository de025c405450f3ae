import HTTPTypes
import Reactors
import Testing

@testable import HTTP1

private let hello = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"

@Suite(.timeLimit(.minutes(2)), .serialized) struct SlowPeersTests {
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
      while await rig.service.connectionCount > 1 { await Task.yield() }
      healthy.send(hello)
      #expect(await healthy.readAnswer().hasSuffix("hello"))
    }
  }

  @Test("two thousand idle connections stop nobody, and every one of them still works")
  func idle() async throws {
    DescriptorLimit.raise()
    try await ServiceRig.run(testRoutes(), configuration: .limited { $0.perPeerMax = 3000 }) { rig in
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
