import PushRules
import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("Apps that change while the pipeline works", .serialized)
struct AppUpdateTests {
  private static let app = PushFixtures.route.app
  private static let coach = PushFixtures.route(of: "com.example.coach", .production).app

  @Test("a device that does not say belongs to its app's environment, and without an app to the default route")
  func environments() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(of: 3, in: rig, on: reactor)
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
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(devices: [], in: rig, on: reactor)
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
