import Foundation
import Simulators
import TestPostgres
import Testing

@Suite("Failover", .serialized)
struct FailoverTests {
  @Test("when the server dies and its standby is promoted, the running service goes on with that one")
  func promoted() async throws {
    let primary = try await TestPostgres.launch()
    let standby = try await primary.launchStandby()
    try await ServiceScene.play(postgres: primary, standby: standby) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let early = try await conversation.say()
      #expect(try await scene.ledger(of: early, rows: 1) == [conversation.people[0]: "sent "])
      try await scene.failOver()
      #expect(try await scene.ledger(of: early, rows: 1) == [conversation.people[0]: "sent "])
      let late = try await conversation.say()
      #expect(try await scene.pushes(of: late, atLeast: 1).count == 1)
      #expect(try await scene.ledger(of: late, rows: 1) == [conversation.people[0]: "sent "])
      #expect(scene.simulator.service.withLog { $0.total } == 2)
      let deadline = ContinuousClock.now + .seconds(20)
      while try await service.get("/readyz").status != 200 { try #require(ContinuousClock.now < deadline) }
    }
  }

  @Test("when the server falls silent and its standby is promoted, pushes go on a second later")
  func silent() async throws {
    let primary = try await TestPostgres.launch()
    let standby = try await primary.launchStandby()
    try await ServiceScene.play(postgres: primary, standby: standby) { scene, _ in
      let conversation = try await Conversation(scene, [.away()])
      let early = try await conversation.say()
      #expect(try await scene.ledger(of: early, rows: 1) == [conversation.people[0]: "sent "])
      try await scene.failOver(silently: true)
      let start = ContinuousClock.now
      for _ in 0..<3 {
        let message = try await conversation.say()
        #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
      }
      // Twice the goal, for a machine that does other things; a service that waits for statements needs three seconds.
      #expect(ContinuousClock.now - start < .seconds(2))
      try await primary.kill()
    }
  }
}
