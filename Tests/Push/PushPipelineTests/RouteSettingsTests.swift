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
    arguments: [APNSOutcome.refused, .otherApps, .badKey, .answered(400, "TopicDisallowed")])
  func waits(_ refusal: APNSOutcome) async throws {
    try await Chat.run(of: 100, configure: Self.quick) { rig, chat, reactor in
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
    try await Chat.run(of: 100, devices: []) { rig, chat, reactor in
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
    try await Chat.run(of: 200, devices: [], configure: Self.quick) { rig, chat, reactor in
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
      for _ in 0..<1000 {
        guard try await rig.hasWork(on: reactor) else { break }
        _ = try await Self.post(other, rig, on: reactor)
      }
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
    try await Chat.run(of: 200, configure: Self.quick) { rig, chat, reactor in
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

@Suite("The route of a push")
struct RouteTests {
  @Test("a device's own environment goes before the service's")
  func environments() async throws {
    try await Chat.run(of: 3) { rig, chat, reactor in
      try await rig.execute(
        """
        update public.push_tokens set environment = 'sandbox' where device_token = '10aa';
        update public.push_tokens set environment = 'moon' where device_token = '20aa';
        """, on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: id, on: reactor)
      let pairs = rig.channel.sent.map { ($0.token, $0.environment) }
      let environments = Dictionary(uniqueKeysWithValues: pairs)
      #expect(environments == ["00aa": .production, "10aa": .sandbox, "20aa": .production])
    }
  }

  @Test("a device's own app is the topic; a push for an app that nobody configured waits until somebody does")
  func apps() async throws {
    try await PipelineRig.run(apps: [PushFixtures.route(of: "com.example.coach", .production).app]) { rig, reactor in
      let chat = try await Chat(of: 4, in: rig, on: reactor)
      try await rig.execute(
        """
        update public.push_tokens set app = 'com.example.coach' where device_token = '10aa';
        update public.push_tokens set app = 'com.example.other' where device_token = '20aa';
        update public.push_tokens set app = 'not an app' where device_token = '30aa';
        """, on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      let topics = Dictionary(uniqueKeysWithValues: rig.channel.sent.map { ($0.token, $0.request.topic) })
      #expect(topics == ["00aa": "com.example.app", "10aa": "com.example.coach"])
      let reasons = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.userID, $0.reason) })
      #expect(reasons[chat.recipients[2]] == "app_not_configured")
      #expect(reasons[chat.recipients[3]] == "bundleIdentifierMalformed")
      #expect(rig.pipeline.fault(of: PushFixtures.route(of: "com.example.other", .sandbox)) == "app_not_configured")
      rig.update(
        apps: [PushFixtures.route(of: "com.example.other", .production).app: .production],
        defaultRoute: PushFixtures.route, on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.last.map { [$0.token, $0.request.topic] } == ["20aa", "com.example.other"])
    }
  }
}

@Suite("Apps that change while the pipeline works", .serialized)
struct AppUpdateTests {
  private static let app = PushFixtures.route.app
  private static let coach = PushFixtures.route(of: "com.example.coach", .production).app

  @Test("a device that does not say belongs to its app's environment, and without an app to the default route")
  func environments() async throws {
    try await Chat.run(of: 3) { rig, chat, reactor in
      try await rig.execute(
        """
        update public.push_tokens set app = 'com.example.coach' where device_token = '10aa';
        update public.push_tokens set app = 'com.example.coach', environment = 'production'
        where device_token = '20aa';
        """, on: reactor)
      let apps: [BundleIdentifier: APNSEnvironment] = [Self.app: .production, Self.coach: .sandbox]
      rig.update(apps: apps, defaultRoute: PushFixtures.route, on: reactor)
      rig.start(on: reactor)
      let first = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: first, on: reactor)
      let names = Dictionary(uniqueKeysWithValues: rig.channel.sent.map { ($0.token, $0.route.name) })
      #expect(
        names == [
          "00aa": "com.example.app/production", "10aa": "com.example.coach/sandbox",
          "20aa": "com.example.coach/production",
        ])
      let other = PushRoute(app: Self.coach, environment: .sandbox)
      rig.update(apps: apps, defaultRoute: other, on: reactor)
      let second = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: second, on: reactor)
      #expect(rig.channel.sent.dropFirst(3).first { $0.token == "00aa" }?.route == other)
    }
  }

  @Test("a renewed app's faults are forgotten, another's stay")
  func renewed() async throws {
    try await PipelineRig.run(
      apps: [Self.coach],
      configure: {
        $0.lanes.breaker.faultsMin = 1
        $0.lanes.breaker.silence = .zero
        // No probe in the time of a test.
        $0.lanes.breaker.refusal = .init(shortest: .seconds(600), longest: .seconds(600))
      }
    ) { rig, reactor in
      let chat = try await Chat(of: 2, in: rig, on: reactor)
      try await rig.execute(
        "update public.push_tokens set app = 'com.example.coach' where device_token = '10aa'", on: reactor)
      rig.channel.answer = { _, _ in .badKey }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: id, on: reactor)
      let routes = [Self.app, Self.coach].map { PushRoute(app: $0, environment: .production) }
      #expect(routes.map(rig.pipeline.fault) == ["InvalidProviderToken", "InvalidProviderToken"])
      rig.channel.answer = { _, _ in .accepted }
      rig.update(
        apps: [Self.app: .production, Self.coach: .production], defaultRoute: PushFixtures.route,
        renewed: [Self.coach], on: reactor)
      #expect(routes.map(rig.pipeline.fault) == ["InvalidProviderToken", nil])
      let outcomes = try await rig.outcomes(of: id, on: reactor) { $0.contains { $0.decision == .sent } }
      #expect(outcomes.first { $0.userID == chat.recipients[0] }?.decision == .held)
      #expect(outcomes.first { $0.userID == chat.recipients[1] }?.decision == .sent)
    }
  }

  @Test("a token that is refused while its app goes is put off: its other environment can no longer be asked")
  func removedMeanwhile() async throws {
    try await Chat.run(devices: []) { rig, chat, reactor in
      try await rig.prove(chat, on: reactor)
      rig.channel.answer = { _, _ in .refused }
      rig.channel.holds = true
      let id = try await chat.post(waking: .webhook, on: reactor)
      try await rig.channel.received(2, on: reactor)
      rig.update(apps: [Self.coach: .production], defaultRoute: PushFixtures.route, on: reactor)
      rig.channel.release(on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.decision) == [.held])
      #expect(outcomes.map(\.reason) == ["BadDeviceToken"])
      #expect(try await rig.isDropped(on: reactor) == false)
      #expect(rig.channel.sent.count == 2)
    }
  }
}
