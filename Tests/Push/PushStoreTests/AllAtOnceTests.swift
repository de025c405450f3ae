import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Everything at once")
struct AllAtOnceTests {
  @Test(
    "replicas that claim, record and review while hosts read, look, leave and delete: no deadlock, nothing lost",
    .uuidsOnly)
  func randomised() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["RACE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000)
    print("all at once: seed \(seed)")
    let chat = try await Chat(readers: 8)
    let messages = try await sendMessages(12, in: chat)
    try await withSessions(chat.database, 6) { sessions, reactor in
      try await sessions[1].planNestedLoops(on: reactor)
      let work = RacingWork(chat: chat, messages: messages, seed: seed)
      // Two replicas with two sessions between them each, one host with long transactions, one with short ones.
      let running = [
        Begun.begin(on: reactor) { try await work.serve(sessions[0], rounds: 60, on: reactor) },
        Begun.begin(on: reactor) { try await work.serve(sessions[1], rounds: 60, on: reactor) },
        Begun.begin(on: reactor) { try await work.serve(sessions[2], rounds: 60, on: reactor) },
        Begun.begin(on: reactor) { try await work.review(sessions[3], rounds: 60, on: reactor) },
        Begun.begin(on: reactor) { try await work.host(sessions[4], rounds: 60, statements: 1...4, on: reactor) },
        Begun.begin(on: reactor) { try await work.host(sessions[5], rounds: 120, statements: 1...1, on: reactor) },
      ]
      // A deadlock would have been thrown to one of them.
      for worker in running { try await worker.value(on: reactor) }
      try await work.finish(sessions[0], on: reactor)
      #expect(try await work.unsent(sessions[0], on: reactor) == [])
      #expect(work.recorded > 100, "\(work.recorded)")
    }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select count(*) from tacet.push_log where decision = 'held'") == "0")
    #expect(try await chat.database.sql("select * from tacet.trigger_failures") == "")
    #expect(try await chat.database.sql("select * from tacet.parked") == "")
    let everybody = "select count(*) from messages m, conversation_participants p where p.user_id <> m.from_id"
    let told = "select count(*) from messages m join tacet.push_log l on l.subject_id = m.id"
    #expect(try await chat.database.sql("select (\(told)) = (\(everybody))") == "t")
  }

  private func sendMessages(_ count: Int, in chat: Chat) async throws -> [HostID] {
    var messages: [HostID] = []
    for _ in 0..<count { messages.append(try await chat.send()) }
    return messages
  }
}
