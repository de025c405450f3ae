import Foundation
import Simulators
import TestProcesses
import Testing

/// The simulator judges each push as strictly as APNs.
@Suite("Reads told to other devices", .serialized)
struct ReadSyncTests {
  @Test("the other device gets one background push, which APNs takes, and no quiet lasts for it")
  func told() async throws {
    try await ServiceScene.play { scene, _ in
      let person = Conversation.Person(
        devices: Conversation.Person.away().devices + Conversation.Person.away().devices, lastSeen: "now()")
      let conversation = try await Conversation(scene, [person])
      let messages = [try await conversation.say(), try await conversation.say()]
      for message in messages {
        try await scene.sql(
          """
          select tacet.read_conversation(
            '\(conversation.id)', '\(conversation.people[0])', '\(message)', '\(conversation.tokens[0][0])', true)
          """)
      }
      let syncs = try await scene.sql("select id from tacet.read_syncs").split(separator: "\n").map(String.init)
      for sync in syncs {
        let pushes = try await scene.pushes(of: sync, atLeast: 1)
        #expect(pushes.count == 1)
        #expect(pushes.map(\.status) == [200], "\(pushes)")
        #expect(pushes.map(\.token) == [conversation.tokens[0][1]])
        #expect(try await scene.ledger(of: sync, rows: 1) == [conversation.people[0]: "sent "])
      }
      #expect(!syncs.isEmpty)
    }
  }
}
