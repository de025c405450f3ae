import FoundationEssentials
import Postgres
import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("Large events")
struct LargeEventTests {
  @Test("an event is taken in parts, and everybody gets it once", arguments: [1, 9, 10, 11, 20, 35])
  func parts(_ count: Int) async throws {
    try await PipelineRig.run(configure: { $0.recipientsPerClaimMax = 10 }) { rig, reactor in
      let chat = try await Chat(of: count, in: rig, on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.count == count)
      #expect(outcomes.allSatisfy { $0.decision == .sent })
      #expect(rig.channel.sent.count == count)
      #expect(Set(rig.channel.sent.map(\.token)).count == count)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("a message that comes while a large event is under way does not wait for the rest of it")
  func fair() async throws {
    try await PipelineRig.run(configure: { $0.recipientsPerClaimMax = 10 }) { rig, reactor in
      let room = try await Chat(of: 100, devices: ["ff"], in: rig, on: reactor)
      let friends = try await Chat(devices: ["ee"], in: rig, on: reactor)
      rig.channel.holds = true
      try await room.post(on: reactor)
      rig.start(on: reactor)
      try await rig.channel.received(10, on: reactor)
      try await friends.post(on: reactor)
      rig.channel.release(10, on: reactor)
      // The next part of the room and the message to the friend come with one claim.
      try await rig.channel.received(21, on: reactor)
      #expect(rig.channel.sent[..<21].contains { $0.token.hasSuffix("ee") })
      rig.channel.release(on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 101)
    }
  }

  @Test("a claim takes fewer events when they are large")
  func room() async throws {
    try await PipelineRig.run(configure: {
      $0.recipientsPerClaimMax = 10
      $0.pushesInFlightMax = 40
      $0.eventsPerClaimMax = 2
    }) { rig, reactor in
      let room = try await Chat(of: 10, in: rig, on: reactor)
      rig.channel.holds = true
      try await room.post(20, on: reactor)
      rig.start(on: reactor)
      try await rig.channel.received(40, on: reactor)
      for _ in 0..<20 {
        rig.pipeline.wake(.webhook, on: reactor)
        _ = try await rig.value("select 1", as: Int32.self, on: reactor)
      }
      #expect(rig.channel.sent.count == 40)
      rig.channel.release(on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 200)
    }
  }
}
