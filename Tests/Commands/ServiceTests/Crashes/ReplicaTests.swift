import Simulators
import Testing

@Suite("Two replicas at peace", .serialized)
struct ReplicaTests {
  @Test("share one database's messages, and each is pushed and recorded once")
  func sharing() async throws {
    let count = 500
    try await ServiceScene.play { scene, first in
      let second = try await scene.startService()
      let conversation = try await Conversation(scene, [.away()])
      try await conversation.burst(of: count)
      #expect(try await scene.settle(within: .seconds(60)) == [:])
      let wire = WireBook(scene.simulator.service)
      #expect(wire.accepted.count == count && wire.duplicates == 0 && wire.shownTwice == 0 && wire.visible == count)
      #expect(wire.outcomes == ["200": count])
      #expect(
        try await scene.sql("select count(*) from tacet.push_log where decision = 'sent'") == "\(count)")
      // Recorded once: had both had a message, the sum would be larger.
      let name = "tacet_outcomes_total"
      let early = try await first.counter(name)
      let others = try await second.counter(name, reaching: count - early)
      let own = try await first.counter(name, reaching: count - others)
      #expect(own + others == count, "\(own), \(others)")
      try await second.stop()
    }
  }
}
