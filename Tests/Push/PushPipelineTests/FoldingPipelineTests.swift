import FoundationEssentials
import PushRules
import PushStore
import Reactors
import TestIDs
import Testing

@testable import PushPipeline

@Suite("Bursts in the pipeline", .serialized)
struct FoldingPipelineTests {
  private static let folding: @Sendable (inout PipelineConfiguration) -> Void = {
    // The window outlasts a burst on a machine that has much else to do.
    $0.folding = FoldPolicy(window: .seconds(60), settle: .milliseconds(200))
  }

  /// Members of a push as the phone reads them.
  private struct Payload: Decodable {
    struct APS: Decodable {
      struct Alert: Decodable { let subtitle: String? }
      let alert: Alert
      let badge: Int
      let sound: String?
    }
    let aps: APS
    let message_id: String

    init(_ sent: ScriptedChannel.Sent) throws {
      self = try JSONDecoder().decode(Self.self, from: Data(sent.request.body))
    }
  }

  /// Thirty messages over a second and a half; the pushes for them.
  private func burst(_ rig: PipelineRig, on reactor: isolated Reactor) async throws -> (Chat, [HostID]) {
    let chat = try await Chat(in: rig, on: reactor)
    rig.start(on: reactor)
    var ids: [HostID] = []
    for _ in 0..<30 {
      ids.append(try await chat.post(waking: .notify, on: reactor))
      await reactor.sleep(for: .milliseconds(50))
    }
    try await rig.nothingLeft(on: reactor)
    return (chat, ids)
  }

  @Test("a burst of thirty is one sound and a few updates of its notification, which ends with the newest message")
  func folds() async throws {
    try await PipelineRig.run(configure: Self.folding) { rig, reactor in
      let (_, ids) = try await burst(rig, on: reactor)
      let payloads = try rig.channel.sent.map(Payload.init)
      let sounds = payloads.filter { $0.aps.sound != nil }
      print("a burst of 30: \(sounds.count) with sound, \(payloads.count - sounds.count) silent updates")
      #expect(sounds.map(\.message_id) == [ids[0].text])
      #expect((2...20).contains(payloads.count))
      #expect(Set(rig.channel.sent.map { $0.request.head.collapseIdentifier?.text }) == [ids[0].text])
      let last = try #require(payloads.last)
      #expect(last.message_id == ids[29].text && last.aps.alert.subtitle == "+29 more" && last.aps.badge == 30)
      let folded = try await rig.value(
        "select count(*) from tacet.push_log where reason = 'folded'", as: Int64.self, on: reactor)
      #expect(Int(folded) == 30 - payloads.count)
      #expect(rig.outcomes(.skipped) == 30 - payloads.count)
    }
  }

  @Test("where nothing folds a burst of thirty is thirty sounds")
  func off() async throws {
    try await PipelineRig.run { rig, reactor in
      _ = try await burst(rig, on: reactor)
      let payloads = try rig.channel.sent.map(Payload.init)
      print("a burst of 30, not folded: \(payloads.count { $0.aps.sound != nil }) with sound")
      #expect(payloads.count { $0.aps.sound != nil } == 30)
      #expect(try await rig.value("select count(*) from tacet.bursts", as: Int64.self, on: reactor) == 0)
    }
  }

  @Test("a message that the user reads while it waits for its update is not shown")
  func read() async throws {
    try await PipelineRig.run(configure: Self.folding) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.start(on: reactor)
      _ = try await rig.outcomes(of: chat.post(waking: .notify, on: reactor), on: reactor)
      let second = try await chat.post(waking: .notify, on: reactor)
      #expect(try await rig.outcomes(of: second, on: reactor).map(\.reason) == ["folding"])
      try await chat.read(on: reactor)
      let ended = try await rig.outcomes(of: second, on: reactor) { $0[0].decision == .skipped }
      #expect(ended.map(\.reason) == ["already_read"])
      #expect(rig.channel.sent.count == 1)
    }
  }

  @Test("messages go as if nothing folded where the database cannot say")
  func unable() async throws {
    try await PipelineRig.run(configure: Self.folding) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      try await rig.execute("alter table tacet.bursts rename to elsewhere", on: reactor)
      rig.start(on: reactor)
      for _ in 0..<2 {
        let id = try await chat.post(waking: .notify, on: reactor)
        #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      }
      #expect(try rig.channel.sent.map { try Payload($0).aps.sound } == ["default", "default"])
    }
  }
}
