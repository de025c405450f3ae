import PushRules
import PushStore
import Testing

@testable import PushPipeline

@Suite("The route of a push")
struct RouteTests {
  @Test("a device's own environment goes before the service's")
  func environments() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(of: 3, in: rig, on: reactor)
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
      let topics = Dictionary(uniqueKeysWithValues: rig.channel.sent.map { ($0.token, $0.request.head.topic) })
      #expect(topics == ["00aa": "com.example.app", "10aa": "com.example.coach"])
      let reasons = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.userID, $0.reason) })
      #expect(reasons[chat.recipients[2]] == "app_not_configured")
      #expect(reasons[chat.recipients[3]] == "bundleIdentifierMalformed")
      #expect(rig.pipeline.fault(of: PushFixtures.route(of: "com.example.other", .sandbox)) == "app_not_configured")
      rig.update(
        apps: [PushFixtures.route(of: "com.example.other", .production).app: .production],
        defaultRoute: PushFixtures.route, on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.last.map { [$0.token, $0.request.head.topic] } == ["20aa", "com.example.other"])
    }
  }
}
