import APNS
import APNSCore
import Deliverers
import Delivery
import PushKinds
import PushRules
import PushStore
import Reactors
import TestLogs
import Testing

@testable import PushPipeline

@Suite("The route of a push to a channel")
struct BroadcastRouteTests {
  private static let channel = PushTarget(
    address: "AAECAwQFBgcICQoLDA0ODw==", environment: "sandbox", app: "com.example.app", isBroadcast: true)

  private static func route(_ environment: APNSEnvironment, _ service: APNSService) throws -> PushRoute {
    PushRoute(app: try BundleIdentifier("com.example.app"), environment: environment, service: service)
  }

  @Test("a channel's pushes are broadcasts in its environment; a device's are none")
  func service() throws {
    let places = APNSPlaces(defaultRoute: PushFixtures.route)
    #expect(try places.route(to: Self.channel) == Self.route(.sandbox, .broadcasts))
    #expect(
      try places.route(to: PushTarget(address: "ab==", isBroadcast: true)) == Self.route(.production, .broadcasts))
    #expect(try places.route(to: PushFixtures.tablet) == Self.route(.sandbox, .devices))
  }

  private static func lanes(of deliverer: APNSDeliverer) -> Lanes {
    var lanes = Lanes(LaneConfiguration(), logger: LogLines().logger)
    lanes.update([deliverer])
    return lanes
  }

  @Test("each app has a lane for each environment and service, and only devices' routes have another besides")
  func lanes() throws {
    let deliverer = APNSDeliverer(ScriptedChannel(), places: APNSPlaces(defaultRoute: PushFixtures.route))
    var lanes = Self.lanes(of: deliverer)
    let expected: Set = [
      "com.example.app/production", "com.example.app/production/broadcasts", "com.example.app/sandbox",
      "com.example.app/sandbox/broadcasts",
    ]
    #expect(Set(lanes.all.map(\.name)) == expected)
    #expect(Set(lanes.claimable(deliveriesMax: 9).map(\.name)) == expected)
    for (environment, other) in [(APNSEnvironment.production, APNSEnvironment.sandbox), (.sandbox, .production)] {
      #expect(deliverer.route(besides: try Self.route(environment, .broadcasts).delivery) == nil)
      let beside = deliverer.route(besides: try Self.route(environment, .devices).delivery)
      #expect(try beside == Self.route(other, .devices).delivery)
    }
    deliverer.update(APNSPlaces(defaultRoute: PushFixtures.route, apps: [:]))
    lanes.update([deliverer])
    #expect(lanes.all.isEmpty)
  }

  @Test("a lane that is shut for broadcasts leaves the one to devices open")
  func apart() throws {
    let deliverer = APNSDeliverer(ScriptedChannel(), places: APNSPlaces(defaultRoute: PushFixtures.route))
    let lanes = Self.lanes(of: deliverer)
    let lane = try #require(lanes[try Self.route(.production, .broadcasts).delivery])
    let refusal = PushAttempt.answered(PushAnswer(status: 403, reason: "TopicMismatch", service: .broadcasts))
    _ = lane.conclude(refusal, to: Self.channel.mark, now: Reactor.now, draw: 0.5)
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
    let lane = Lane(try Self.route(.production, .broadcasts).delivery, LaneConfiguration(), logger: LogLines().logger)
    let answer = PushAnswer(status: status, reason: PushReason(rawValue: reason), service: .broadcasts)
    #expect(send(.answered(answer), to: Self.channel.mark, over: lane) == expected)
    #expect(lane.fault == nil)
  }

  @Test("no answer makes the pipeline try a channel in the other environment")
  func notElsewhere() async throws {
    try await PipelineRig.run { rig, reactor in
      let route = try Self.route(.production, .broadcasts)
      let lane = try #require(rig.pipeline.lanes[route.delivery])
      rig.channel.answer = { _, _ in .refused }
      let subject = PushSubject(id: PushFixtures.messageID, kind: LiveActivityPush.name)
      let state = ClaimedContent(
        surfaceID: nil,
        document:
          #"{"activity_id":"a","event":"update","unix_time":1,"type":"T","state":{},"priority":5,"addresses":[]}"#)
      let push = OutgoingPush(
        try LiveActivityPush(state).push(about: subject), to: Self.channel, of: PushFixtures.user, about: subject,
        enqueuedAt: 0, unread: nil, expiresAt: 1)
      #expect(lane.objection(to: Self.channel.mark, now: Reactor.now) == nil)
      var trail = AttemptTrail()
      _ = await rig.pipeline.verdict(
        on: try rig.apns.request(for: push, over: lane.route), through: rig.apns,
        to: OwnedTarget(target: Self.channel, user: PushFixtures.user), over: lane,
        until: Reactor.now &+ 10_000_000_000, trail: &trail, on: reactor)
      #expect(rig.channel.sent.map(\.route) == [route])
    }
  }

  @Test(
    "an alert does not go to a channel, and nothing goes to what cannot be one",
    arguments: [
      (channel, PushRequestError.Code.pushTypeNotAllowed),
      (PushTarget(address: "!!!", isBroadcast: true), .channelIdentifierMalformed),
      (PushTarget(address: "", isBroadcast: true), .channelIdentifierMalformed),
    ])
  func refused(device: PushTarget, code: PushRequestError.Code) {
    #expect {
      try PushFixtures.request(PushFixtures.event(), for: device)
    } throws: { ($0 as? PushRequestError)?.code == code }
  }
}
