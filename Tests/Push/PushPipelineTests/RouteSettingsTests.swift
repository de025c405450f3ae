import Channels
import FoundationEssentials
import Postgres
import PushRules
import PushStore
import Reactors
import TestIDs
import Testing

@testable import PushPipeline

@Suite("A route whose settings are wrong", .serialized)
struct RouteSettingsTests {
  private static let quick: @Sendable (inout PipelineConfiguration) -> Void = {
    $0.lanes.breaker = .quick
    $0.retry.base = .milliseconds(1)
  }

  /// Posts a message and waits until it is decided.
  private static func post(_ chat: Chat, _ rig: PipelineRig, on reactor: isolated Reactor) async throws -> HostID {
    let id = try await chat.post(waking: .webhook, on: reactor)
    _ = try await rig.outcomes(of: id, on: reactor)
    return id
  }

  @Test(
    "keeps its pushes and its tokens, and lets them go when it is mended",
    arguments: [PushAttempt.refused, .otherApps, .badKey, .answered(400, "TopicDisallowed")])
  func waits(_ refusal: PushAttempt) async throws {
    try await PipelineRig.run(configure: Self.quick) { rig, reactor in
      let chat = try await Chat(of: 100, in: rig, on: reactor)
      let isMended = Flag()
      rig.channel.answer = { _, _ in isMended.isSet ? .accepted : refusal }
      rig.start(on: reactor)
      let id = try await Self.post(chat, rig, on: reactor)
      #expect(rig.pipeline.fault(of: PushFixtures.route) == refusal.reason)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.count == 100)
      #expect(outcomes.allSatisfy { $0.decision == .held && $0.reason == refusal.reason })
      #expect(try await rig.isDropped(on: reactor) == false)
      isMended.isSet = true
      try await rig.nothingLeft(on: reactor)
      let sent = try await rig.outcomes(of: id, on: reactor)
      #expect(sent.allSatisfy { $0.decision == .sent })
      #expect(try await rig.isDropped(on: reactor) == false)
      #expect(rig.pipeline.fault(of: PushFixtures.route) == nil)
      #expect(Set(rig.channel.sent.map(\.identifier)).count == 100)
    }
  }

  @Test("stops alone: the app's other environment and other apps go on")
  func others() async throws {
    try await PipelineRig.run(
      apps: [PushFixtures.route(of: "com.example.coach", .production).app], configure: { Self.quick(&$0) }
    ) { rig, reactor in
      let chat = try await Chat(of: 3, in: rig, on: reactor)
      try await rig.execute(
        """
        update public.push_tokens set environment = 'sandbox' where device_token = '10aa';
        update public.push_tokens set app = 'com.example.coach' where device_token = '20aa'
        """, on: reactor)
      rig.channel.answer = { push, _ in push.token == "00aa" ? .badKey : .accepted }
      rig.start(on: reactor)
      for _ in 0..<5 {
        let id = try await Self.post(chat, rig, on: reactor)
        let outcomes = try await rig.outcomes(of: id, on: reactor)
        let decisions = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.userID, $0.decision) })
        let users = chat.recipients
        #expect(decisions == [users[0]: .held, users[1]: .sent, users[2]: .sent])
      }
      #expect(rig.pipeline.fault(of: PushFixtures.route) == "InvalidProviderToken")
    }
  }

  @Test("is asked at once after its credentials were renewed, however long the next probe would have taken")
  func renewed() async throws {
    try await PipelineRig.run(configure: {
      $0.lanes.breaker.refusal = .init(shortest: .seconds(600), longest: .seconds(600))
      $0.retry.base = .milliseconds(1)
    }) { rig, reactor in
      let chat = try await Chat(of: 20, in: rig, on: reactor)
      let isMended = Flag()
      rig.channel.answer = { _, _ in isMended.isSet ? .accepted : .badKey }
      rig.start(on: reactor)
      _ = try await Self.post(chat, rig, on: reactor)
      let before = rig.channel.sent.count
      for _ in 0..<20 {
        rig.pipeline.wake(.webhook, on: reactor)
        _ = try await rig.value("select 1", as: Int32.self, on: reactor)
      }
      #expect(rig.channel.sent.count == before)
      isMended.isSet = true
      let route = PushFixtures.route
      rig.update(apps: [:], defaultRoute: route, on: reactor)
      #expect(rig.pipeline.fault(of: route) == "app_not_configured")
      rig.update(apps: [route.app: route.environment], defaultRoute: route, on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == before + 20)
    }
  }

  @Test("is not taken for one because of some tokens of many: they are dropped, the others served")
  func someBad() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(of: 100, devices: [], in: rig, on: reactor)
      try await rig.prove(chat, on: reactor)
      rig.channel.answer = { push, _ in ["aa1000", "aa1010", "aa1099"].contains(push.token) ? .refused : .accepted }
      let id = try await Self.post(chat, rig, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor) { $0.count == 100 }
      #expect(outcomes.count { $0.decision == .sent } == 97)
      #expect(outcomes.count { $0.reason == "BadDeviceToken" } == 3)
      let dropped = "select count(*) from public.push_tokens where invalidation_reason = 'BadDeviceToken'"
      #expect(try await rig.value(dropped, as: Int64.self, on: reactor) == 3)
      #expect(rig.pipeline.fault(of: PushFixtures.route) == nil)
    }
  }

  @Test("a crowd of refusals costs few tokens, and rubbish among them does not keep the good ones from their pushes")
  func crowd() async throws {
    try await PipelineRig.run(configure: Self.quick) { rig, reactor in
      let chat = try await Chat(of: 200, devices: [], in: rig, on: reactor)
      try await rig.prove(chat, on: reactor)
      // Every second token, with digits from 0 to 9 at the end.
      rig.channel.answer = { push, _ in push.token.utf8.last.map { $0 % 2 == 0 } == true ? .refused : .accepted }
      var messages = [try await Self.post(chat, rig, on: reactor)]
      let dropped = "select count(*) from public.push_tokens where invalidated_at is not null"
      let count = try await rig.value(dropped, as: Int64.self, on: reactor)
      // 200 were accepted before: a fifth of the recent ones is reached after some 30 to 50 refusals.
      #expect(count < 60, "\(count)")
      for _ in 0..<2 { messages.append(try await Self.post(chat, rig, on: reactor)) }
      // Somebody's good token keeps being used: when only rubbish waits, nothing else could show that the route is right.
      let other = try await Chat(in: rig, on: reactor)
      for _ in 0..<1000 where try await rig.hasWork(on: reactor) { _ = try await Self.post(other, rig, on: reactor) }
      try await rig.nothingLeft(on: reactor)
      for id in messages {
        let outcomes = try await rig.outcomes(of: id, on: reactor)
        #expect(outcomes.count { $0.decision == .sent } == 100)
      }
      #expect(rig.pipeline.fault(of: PushFixtures.route) == nil)
    }
  }

  @Test("what waited goes in growing numbers when a route is back: one, 8, 64, all")
  func slowStart() async throws {
    try await PipelineRig.run(configure: Self.quick) { rig, reactor in
      let chat = try await Chat(of: 200, in: rig, on: reactor)
      rig.channel.answer = { _, _ in .unreachable }
      rig.start(on: reactor)
      let id = try await Self.post(chat, rig, on: reactor)
      rig.channel.answer = { _, _ in .accepted }
      rig.channel.holds = true
      var before = rig.channel.sent.count
      try await rig.channel.received(before + 1, on: reactor)
      var steps: [Int] = []
      for expected in [1, 8, 64] {
        try await rig.channel.received(before + expected, on: reactor)
        for _ in 0..<5 {
          rig.pipeline.wake(.webhook, on: reactor)
          _ = try await rig.value("select 1", as: Int32.self, on: reactor)
        }
        steps.append(rig.channel.sent.count - before)
        before = rig.channel.sent.count
        rig.channel.release(steps[steps.count - 1], on: reactor)
      }
      #expect(steps == [1, 8, 64])
      rig.channel.release(on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).allSatisfy { $0.decision == .sent })
    }
  }
}
