import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("Events that keep accepted recipients waiting", .serialized)
struct SlowEventsTests {
  private static let sent = "select count(*) from public.push_log where decision = 'sent'"

  /// Posts to three, of whom two are accepted while the third is on its way, and waits until the two stand in the ledger.
  private func acceptTwo(of rig: PipelineRig, on reactor: isolated Reactor) async throws {
    let chat = try await Chat(of: 3, in: rig, on: reactor)
    rig.channel.holds = true
    rig.start(on: reactor)
    _ = try await chat.post(waking: .webhook, on: reactor)
    try await rig.channel.received(3, on: reactor)
    rig.channel.release(2, on: reactor)
    while try await rig.value(Self.sent, as: Int64.self, on: reactor) < 2 {}
  }

  @Test("who has accepted stands in the ledger before the last one is decided, and is counted once")
  func early() async throws {
    try await PipelineRig.run { rig, reactor in
      try await acceptTwo(of: rig, on: reactor)
      let claimed = "select count(*) from tacet.inbox where is_claimed and attempts = 1"
      #expect(try await rig.value(claimed, as: Int64.self, on: reactor) == 1)
      #expect(rig.outcomes(.sent) == 0)
      rig.channel.release(on: reactor)
      #expect(await rig.pipeline.drain(within: .seconds(10), on: reactor))
      try await rig.nothingLeft(on: reactor)
      #expect(rig.outcomes(.sent) == 3)
      let entries = "select string_agg(jsonb_array_length(history)::text, ' ') from public.push_log"
      #expect(try await rig.value(entries, as: String.self, on: reactor) == "1 1 1")
    }
  }

  @Test("who takes the event over sends to the others alone")
  func takenOver() async throws {
    try await PipelineRig.run { rig, reactor in
      try await acceptTwo(of: rig, on: reactor)
      try await rig.execute("update tacet.inbox set available_at = now() - interval '1 s'", on: reactor)
      rig.pipeline.wake(.due, on: reactor)
      try await rig.channel.received(4, on: reactor)
      rig.channel.release(on: reactor)
      #expect(await rig.pipeline.drain(within: .seconds(10), on: reactor))
      #expect(rig.channel.sent.count == 4 && rig.channel.sent[3].token == rig.channel.sent[2].token)
      #expect(try await rig.value(Self.sent, as: Int64.self, on: reactor) == 3)
    }
  }
}
