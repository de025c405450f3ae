import Foundation
import Simulators
import TestProcesses
import Testing

/// A host that writes its own tables by plain SQL, with a window that no test waits for.
@Suite("A held push", .serialized)
struct HoldTests {
  @Test(
    "ends at once when the host writes what is learnt",
    arguments: [
      ("update conversation_participants set tacet_left_at = now() where user_id = '$user'", "sent "),
      ("update conversation_participants set last_seen = now() where user_id = '$user'", "skipped user_viewing"),
      ("update messages set read_by = array_append(read_by, '$user')", "skipped already_read"),
      ("delete from messages", "skipped deleted"),
      ("delete from conversation_participants where user_id = '$user'", "skipped not_participant"),
    ])
  func learnt(_ change: String, _ outcome: String) async throws {
    try await ServiceScene.play(extra: ["SUPPRESSION_WINDOW_SECONDS": "600"]) { scene, _ in
      let conversation = try await Conversation(scene, [.viewing()])
      let user = conversation.people[0]
      let message = try await conversation.say()
      #expect(try await scene.ledger(of: message, rows: 1) == [user: "held user_viewing"])
      try await scene.sql(change.replacing("$user", with: user))
      #expect(try await scene.settled(message) == [user: outcome])
      #expect(
        try await scene.pushes(of: message, atLeast: outcome == "sent " ? 1 : 0).count == (outcome == "sent " ? 1 : 0))
      #expect(try await scene.sql("select count(*) from tacet.deliveries") == "0")
    }
  }

  @Test("survives the death of the service, and ends at once after it")
  func killed() async throws {
    let scene = try await ServiceScene(extra: ["SUPPRESSION_WINDOW_SECONDS": "600"])
    let conversation = try await Conversation(scene, [.viewing(), .viewing()])
    let first = try await scene.startService()
    let message = try await conversation.say()
    _ = try await scene.ledger(of: message, rows: 2)
    try await first.process.signal(SIGKILL)
    _ = try await first.process.exitCode()
    // One leaves while nobody is there to hear it, the other afterwards.
    try await scene.sql(
      "update conversation_participants set tacet_left_at = now() where user_id = '\(conversation.people[0])'")
    let second = try await scene.startService()
    _ = try await scene.pushes(of: message, atLeast: 1)
    try await scene.sql(
      "update conversation_participants set tacet_left_at = now() where user_id = '\(conversation.people[1])'")
    #expect(Set(try await scene.settled(message).values) == ["sent "])
    #expect(try await scene.pushes(of: message, atLeast: 2).count == 2)
    try await second.stop()
    await scene.simulator.stop()
  }
}

extension ServiceScene {
  /// The ledger of a message once nothing of it is held any more.
  func settled(_ message: String) async throws -> [String: String] {
    let deadline = ContinuousClock.now + .seconds(20)
    while true {
      let ledger = try await self.ledger(of: message, rows: 1)
      if ledger.values.allSatisfy({ !$0.hasPrefix("held") }) { return ledger }
      guard ContinuousClock.now < deadline else { throw TestProcessError(description: "still \(ledger)") }
    }
  }
}
