import APNS
import APNSCore
import FoundationEssentials
import Logging
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
    try await PipelineRig.run(window: .seconds(2), logger: lines.logger, configure: { $0.lanes.breaker = .quick }) {
      rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.channel.answer = { _, number in number == 1 ? .broken : .accepted }
      rig.start(on: reactor)
      try await chat.see(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      _ = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 2)
      let decided = lines.all.filter { $0.message == "push decided" }
      #expect(decided.map { $0.metadata["decision"] } == ["held", "held", "sent"])
      #expect(decided.map { $0.metadata["reason"] } == ["user_viewing", "InternalServerError", ""])
      #expect(decided.map(\.level) == [.debug, .debug, .info])
      #expect(decided.allSatisfy { $0.metadata["subject_id"] == id.uuidString.lowercased() })
      #expect(decided.allSatisfy { $0.metadata["user_id"] == chat.recipients[0].uuidString.lowercased() })
      let ofPushes = lines.all.filter { $0.level >= .info && $0.metadata["subject_id"] != nil }
      #expect(ofPushes.map(\.message) == ["push decided"])
    }
  }
}
