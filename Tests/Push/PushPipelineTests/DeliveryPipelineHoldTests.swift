import Channels
import FoundationEssentials
import Postgres
import PushRules
import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("Holds in the pipeline", .serialized)
struct DeliveryPipelineHoldTests {
  @Test("a message for somebody who is looking is held until exactly the end of the window")
  func held() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      try await chat.see(ago: "20 s", on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcome = try #require(try await rig.outcomes(of: id, on: reactor).first)
      #expect(outcome.decision == .held)
      #expect(outcome.reason == "user_viewing")
      let until = try await rig.value(
        """
        select (extract(epoch from last_seen + interval '60 s') * 1000000)::bigint
        from public.conversation_participants where last_seen is not null
        """, as: Int64.self, on: reactor)
      #expect(outcome.heldUntil == until)
      let isDueThen = try await rig.value(
        "select due_at = held_until and state = 'held' from tacet.deliveries, tacet.push_log", as: Bool.self,
        on: reactor)
      #expect(isDueThen)
      #expect(rig.channel.sent.isEmpty)
    }
  }

  @Test("a hold that ends is sent, by the pipeline's own timer")
  func released() async throws {
    // Long enough that a machine under load posts the message within it.
    try await PipelineRig.run(window: .seconds(2), configure: withoutPolls) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.start(on: reactor)
      try await chat.see(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let first = try await rig.outcomes(of: id, on: reactor)
      #expect(first.map(\.decision) == [.held])
      let last = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }
      #expect(last.map(\.devicesAccepted) == [1])
      #expect(rig.channel.sent.count == 1)
      let row = "select woken_by = 'due' and attempts = 2 and held_until is null from tacet.push_log"
      #expect(try await rig.value(row, as: Bool.self, on: reactor))
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("a message that is read while it is held is never sent")
  func readMeanwhile() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.start(on: reactor)
      try await chat.see(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      try await chat.read(on: reactor)
      try await rig.execute("update tacet.deliveries set due_at = now()", on: reactor)
      rig.pipeline.wake(.due, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision != .held }
      #expect(outcomes.map(\.reason) == ["already_read"])
      #expect(rig.channel.sent.isEmpty)
      try await rig.nothingLeft(on: reactor)
    }
  }
}
