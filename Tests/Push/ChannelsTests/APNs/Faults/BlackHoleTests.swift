import Channels
import PushRules
import Reactors
import Testing

@Suite("A black-holed connection")
struct BlackHoleTests {
  private static let pushes = 800

  @Test("at 100 pushes a second, traffic flows again in less than five seconds, and nothing is lost")
  func underLoad() async throws {
    try await FaultScene.play { scene, reactor in
      let relay = try TCPRelay(to: scene.address, on: reactor)
      let client = try await scene.client(port: relay.port)
      client.warmUp(.production, on: reactor)
      let campaign = Campaign(scene, over: client)
      campaign.start(Self.pushes, every: .milliseconds(10), on: reactor)
      await campaign.finished(200, on: reactor)
      relay.swallow()
      let swallowed = Reactor.now
      await campaign.finished(Self.pushes, on: reactor)
      let tally = FaultTally("black hole at 100 pushes/s", pushes: Self.pushes, of: scene)
      let resumed = try #require(campaign.acceptances.first { $0 > swallowed })
      let seconds = Double(resumed - swallowed) / 1e9
      print("\(tally); traffic flowed again after \(seconds) s")
      #expect(seconds < 5)
      #expect(campaign.acceptances.count == Self.pushes)
      #expect(tally.lost == 0)
      #expect(tally.renamed == 0)
      #expect(tally.connections == 2)
      client.close(on: reactor)
      relay.stop(on: reactor)
    }
  }

  @Test("a connection that died while it was idle costs its first pushes no more than that")
  func idle() async throws {
    try await FaultScene.play { scene, reactor in
      let relay = try TCPRelay(to: scene.address, on: reactor)
      let client = try await scene.client(port: relay.port)
      let campaign = Campaign(scene, over: client)
      campaign.start(1, atOnce: 1, on: reactor)
      await campaign.finished(1, on: reactor)
      relay.swallow()
      let start = Reactor.now
      campaign.start(11, atOnce: 10, on: reactor)
      await campaign.finished(11, on: reactor)
      let tally = FaultTally("black hole found by the first pushes", pushes: 11, of: scene)
      let seconds = Double(Reactor.now - start) / 1e9
      print("\(tally); all accepted after \(seconds) s")
      #expect(seconds < 5)
      #expect(tally.lost == 0)
      #expect(tally.renamed == 0)
      client.close(on: reactor)
      relay.stop(on: reactor)
    }
  }
}
