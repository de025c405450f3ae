import Channels
import FoundationEssentials
import Logging
import PushRules
import PushStore
import Reactors
import TestLogs
import Testing

@testable import PushPipeline

@Suite("What a push leaves in the log", .serialized)
struct OneLineTests {
  @Test("is one line at info, with its ids, however often it was held and tried before")
  func walk() async throws {
    let lines = LogLines()
    try await PipelineRig.run(window: .seconds(600), logger: lines.logger, configure: { $0.lanes.breaker = .quick }) {
      rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.channel.answer = { _, number in number == 1 ? .broken : .accepted }
      rig.start(on: reactor)
      try await chat.see(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      try await rig.execute(
        "update public.conversation_participants set tacet_left_at = clock_timestamp() where user_id = '\(chat.recipients[0])'",
        on: reactor)
      rig.pipeline.wake(.due, on: reactor)
      _ = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 2)
      let decided = lines.all.filter { $0.message == "push decided" }
      #expect(decided.map { $0.metadata["decision"] } == ["held", "held", "sent"])
      #expect(decided.map { $0.metadata["reason"] } == ["user_viewing", "InternalServerError", ""])
      #expect(decided.map(\.level) == [.debug, .debug, .info])
      #expect(decided.allSatisfy { $0.metadata["subject_id"] == id.text })
      #expect(decided.allSatisfy { $0.metadata["user_id"] == chat.recipients[0].text })
      let ofPushes = lines.all.filter { $0.level >= .info && $0.metadata["subject_id"] != nil }
      #expect(ofPushes.map(\.message) == ["push decided"])
    }
  }

  @Test("is one line at info when one of two devices got it later")
  func twoDevices() async throws {
    let lines = LogLines()
    try await PipelineRig.run(logger: lines.logger) { rig, reactor in
      let chat = try await Chat(devices: ["aa", "bb"], in: rig, on: reactor)
      let isMended = Flag()
      rig.channel.answer = { push, _ in push.token == "00bb" && !isMended.isSet ? .broken : .accepted }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      isMended.isSet = true
      try await rig.nothingLeft(on: reactor)
      #expect(lines.all.filter { $0.message == "push decided" }.map(\.level).sorted().last == .info)
      #expect(lines.all.count { $0.message == "push decided" && $0.level == .info } == 1)
    }
  }
}
