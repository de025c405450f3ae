import APNS
import APNSCore
import PushKinds
import PushRules
import PushStore
import Reactors
import TestLogs
import Testing

@testable import PushPipeline

@Suite("The route of a push to a channel")
struct BroadcastRouteTests {
  private static let channel = PushDevice(
    token: "AAECAwQFBgcICQoLDA0ODw==", environment: "sandbox", app: "com.example.app", isChannel: true)

  private static func route(_ environment: APNSEnvironment, _ service: APNSService) throws -> PushRoute {
    PushRoute(app: try BundleIdentifier("com.example.app"), environment: environment, service: service)
  }

  @Test("a channel's pushes are broadcasts in its environment; a device's are none")
  func service() throws {
    let configuration = PipelineConfiguration(policy: SuppressionPolicy(), defaultRoute: PushFixtures.route)
    #expect(try configuration.route(to: Self.channel) == Self.route(.sandbox, .broadcasts))
    #expect(
      try configuration.route(to: PushDevice(token: "ab==", isChannel: true)) == Self.route(.production, .broadcasts))
    #expect(try configuration.route(to: PushFixtures.tablet) == Self.route(.sandbox, .devices))
  }

  @Test("each app has a lane for each environment and service, and only devices' lanes have a neighbour")
  func lanes() throws {
    var lanes = Lanes(LaneConfiguration(), apps: [PushFixtures.route.app], logger: LogLines().logger)
    let expected: Set = [
      "com.example.app/production", "com.example.app/production/broadcasts", "com.example.app/sandbox",
      "com.example.app/sandbox/broadcasts",
    ]
    #expect(Set(lanes.all.map(\.name)) == expected)
    #expect(Set(lanes.claimable(deliveriesMax: 9).map(\.name)) == expected)
    for environment in APNSEnvironment.allCases {
      let broadcasts = try #require(lanes[try Self.route(environment, .broadcasts)])
      #expect(lanes.neighbour(of: broadcasts) == nil)
      let devices = try #require(lanes[try Self.route(environment, .devices)])
      #expect(lanes.neighbour(of: devices)?.route == devices.route.inOtherEnvironment)
    }
    lanes.update(apps: [])
    #expect(lanes.all.isEmpty)
  }

  @Test("a lane that is shut for broadcasts leaves the one to devices open")
  func apart() throws {
    let lanes = Lanes(LaneConfiguration(), apps: [PushFixtures.route.app], logger: LogLines().logger)
    let lane = try #require(lanes[try Self.route(.production, .broadcasts)])
    let refusal = PushAttempt.answered(PushAnswer(status: 403, reason: "TopicMismatch", service: .broadcasts))
    _ = lane.conclude(refusal, to: Self.channel.token, now: Reactor.now, draw: 0.5)
    #expect(!lanes.isOpen("com.example.app/production/broadcasts"))
    #expect(lanes.isOpen("com.example.app/production"))
  }

  @Test(
    "an answer about the channel drops it alone, and one about its rate puts the push off",
    arguments: [
      (400, "ChannelNotRegistered", DeviceVerdict.dead(reason: "ChannelNotRegistered", sinceMilliseconds: nil)),
      (400, "BadChannelId", .dead(reason: "BadChannelId", sinceMilliseconds: nil)),
      (400, "BadExpirationDate", .refused(reason: "BadExpirationDate")),
      (429, "TooManyRequests", .postponed(reason: "TooManyRequests", minimum: .seconds(60))),
    ])
  func verdicts(status: Int, reason: String, expected: DeviceVerdict) throws {
    let lane = Lane(try Self.route(.production, .broadcasts), LaneConfiguration(), logger: LogLines().logger)
    let answer = PushAnswer(status: status, reason: PushReason(rawValue: reason), service: .broadcasts)
    #expect(send(.answered(answer), to: Self.channel.token, over: lane) == expected)
    #expect(lane.fault == nil)
  }

  @Test("no answer makes the pipeline try a channel in the other environment")
  func notElsewhere() async throws {
    try await PipelineRig.run { rig, reactor in
      let lane = try #require(rig.pipeline.lanes[try Self.route(.production, .broadcasts)])
      rig.channel.answer = { _, _ in .refused }
      let destination = PushDestination.channel(try ChannelIdentifier(Self.channel.token))
      let request = try PushRequest(
        try LiveActivityPayload(timestamp: 1, event: .update, contentState: [:]), to: destination,
        of: lane.route.app,
        identifier: PushIdentifier(eventKind: "k", event: "e", recipient: "r", destination: destination))
      #expect(lane.objection(to: Self.channel.token, now: Reactor.now) == nil)
      var trail = AttemptTrail()
      _ = await rig.pipeline.verdict(
        on: request, to: PushTarget(device: Self.channel, user: PushFixtures.user), over: lane,
        until: Reactor.now &+ 10_000_000_000, trail: &trail, on: reactor)
      #expect(rig.channel.sent.map(\.route) == [lane.route])
    }
  }

  @Test(
    "an alert does not go to a channel, and nothing goes to what cannot be one",
    arguments: [
      (channel, PushRequestError.Code.pushTypeNotAllowed),
      (PushDevice(token: "!!!", isChannel: true), .channelIdentifierMalformed),
      (PushDevice(token: "", isChannel: true), .channelIdentifierMalformed),
    ])
  func refused(device: PushDevice, code: PushRequestError.Code) {
    #expect {
      try PushFixtures.request(PushFixtures.event(), for: device)
    } throws: { ($0 as? PushRequestError)?.code == code }
  }
}
