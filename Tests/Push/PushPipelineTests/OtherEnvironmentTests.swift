import Channels
import FoundationEssentials
import Postgres
import PushRules
import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("A device token of the other environment", .serialized)
struct OtherEnvironmentTests {
  /// APNs as it is when every token was issued by the sandbox.
  private static let sandboxOnly: @Sendable (ScriptedChannel.Sent, Int) -> APNSOutcome = { push, _ in
    push.environment == .sandbox ? .accepted : .refused
  }

  @Test("is tried there once, under the same identifiers; the next push goes right", arguments: [nil, "production"])
  func learnt(_ registered: String?) async throws {
    try await Chat.run { rig, chat, reactor in
      if let registered {
        try await rig.execute("update public.push_tokens set environment = '\(registered)'", on: reactor)
      }
      rig.channel.answer = Self.sandboxOnly
      rig.start(on: reactor)
      let start = Reactor.now
      let first = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: first, on: reactor)
      #expect(outcomes.map(\.decision) == [.sent])
      #expect(outcomes.map(\.reason) == [nil])
      #expect(rig.channel.sent.map(\.environment) == [.production, .sandbox])
      #expect(rig.channel.sent[0].request == rig.channel.sent[1].request)
      let limit: UInt64 = 10_000_000_000
      #expect((start + limit...Reactor.now + limit).contains(rig.channel.sent[0].deadline))
      #expect(rig.channel.sent[0].deadline == rig.channel.sent[1].deadline, "both share the time of one push")
      #expect(try await rig.environments(on: reactor) == "sandbox")
      let second = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: second, on: reactor)
      #expect(rig.channel.sent.dropFirst(2).map(\.environment) == [.sandbox])
      #expect(try await rig.isDropped(on: reactor) == false)
      for environment in APNSEnvironment.allCases {
        #expect(rig.pipeline.fault(of: PushFixtures.route(of: "com.example.app", environment)) == nil)
      }
    }
  }

  @Test(
    "is asked for once in each environment when both refuse it, and then it is suspect",
    arguments: [nil, "com.example.app"])
  func refusedByBoth(_ app: String?) async throws {
    try await Chat.run(devices: []) { rig, chat, reactor in
      try await rig.prove(chat, on: reactor)
      if let app { try await rig.execute("update public.push_tokens set app = '\(app)'", on: reactor) }
      rig.channel.answer = { push, _ in push.environment == .sandbox ? .otherApps : .refused }
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.decision) == [.failed])
      #expect(outcomes.map(\.reason) == ["DeviceTokenNotForTopic"], "the later answer knows more")
      #expect(rig.channel.sent.map(\.environment) == [.production, .production, .sandbox])
      #expect(try await rig.isDropped(on: reactor) == (app != nil), "a default app may be the wrong one")
      #expect(try await rig.environments(on: reactor) == "")
    }
  }

  @Test("is dropped when the other environment says that it is dead")
  func deadThere() async throws {
    try await Chat.run { rig, chat, reactor in
      rig.channel.answer = { push, _ in push.environment == .sandbox ? .answered(410, "Unregistered") : .refused }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.reason) == ["Unregistered"])
      #expect(try await rig.isDropped(on: reactor))
      #expect(rig.pipeline.fault(of: PushFixtures.route) == nil)
    }
  }

  @Test(
    "is put off while the other environment cannot be asked, or refuses more than this token",
    arguments: [
      APNSOutcome.unreachable, .busy, .limited, .badKey, .answered(407, nil), .answered(301, nil),
      .refused("InvalidProviderToken"),
    ])
  func unresolved(_ attempt: APNSOutcome) async throws {
    try await Chat.run(devices: []) { rig, chat, reactor in
      try await rig.prove(chat, on: reactor)
      let isBack = Flag()
      rig.channel.answer = { push, _ in
        push.environment == .production ? .refused : isBack.isSet ? .accepted : attempt
      }
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.decision) == [.held])
      #expect(outcomes.map(\.reason) == [attempt.reason])
      let isPutOff = "select state = 'retryable' and due_at > now() + interval '20 s' from tacet.deliveries"
      #expect(try await rig.value(isPutOff, as: Bool.self, on: reactor))
      #expect(try await rig.isDropped(on: reactor) == false)
      isBack.isSet = true
      try await rig.execute("update tacet.deliveries set due_at = now()", on: reactor)
      rig.pipeline.wake(.due, on: reactor)
      let later = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }
      #expect(later.count == 1)
      #expect(Set(rig.channel.sent.dropFirst().map(\.identifier)).count == 1)
      #expect(try await rig.environments(on: reactor) == "sandbox")
    }
  }

  @Test("is put off, and tried nowhere else, when the first environment took all the time that the push has")
  func noTimeLeft() async throws {
    try await Chat.run(devices: [], configure: { $0.pushLimit = .zero }) { rig, chat, reactor in
      try await rig.prove(chat, on: reactor)
      rig.channel.answer = Self.sandboxOnly
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.decision) == [.held])
      #expect(outcomes.map(\.reason) == ["BadDeviceToken"])
      #expect(rig.channel.sent.map(\.environment) == [.production, .production])
      #expect(try await rig.isDropped(on: reactor) == false)
      let isPutOff = "select state = 'retryable' and due_at > now() + interval '20 s' from tacet.deliveries"
      #expect(try await rig.value(isPutOff, as: Bool.self, on: reactor))
    }
  }

  @Test("is judged by its own environment alone when the app has no credential in the other, which is asked once")
  func otherKey() async throws {
    try await PipelineRig.run { rig, reactor in
      let chats = [
        try await Chat(devices: [], in: rig, on: reactor), try await Chat(devices: ["bb"], in: rig, on: reactor),
      ]
      try await rig.prove(chats[0], on: reactor)
      rig.channel.answer = { push, _ in
        push.environment == .sandbox ? .answered(403, "BadEnvironmentKeyInToken") : .refused
      }
      for chat in chats {
        let id = try await chat.post(waking: .webhook, on: reactor)
        #expect(try await rig.outcomes(of: id, on: reactor).map(\.reason) == ["BadDeviceToken"])
      }
      #expect(rig.channel.sent.map(\.environment) == [.production, .production, .sandbox, .production])
      #expect(rig.pipeline.fault(of: PushFixtures.route(of: "com.example.app", .sandbox)) == nil)
      let dropped = "select count(*) from public.push_tokens where invalidated_at is not null"
      #expect(try await rig.value(dropped, as: Int64.self, on: reactor) == 2)
    }
  }

  @Test("is judged so after an outage of the other environment as well, and nothing is left waiting or shut")
  func otherKeyAfterOutage() async throws {
    try await Chat.run(devices: [], configure: { $0.lanes.breaker = .quick }) { rig, chat, reactor in
      try await rig.prove(chat, on: reactor)
      let isBack = Flag()
      rig.channel.answer = { push, _ in
        guard push.environment == .sandbox else { return .refused }
        return isBack.isSet ? .answered(403, "BadEnvironmentKeyInToken") : .unreachable
      }
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.reason) == ["apns_unreachable"])
      let sandbox = PushFixtures.route(of: "com.example.app", .sandbox)
      #expect(rig.pipeline.fault(of: sandbox) == "apns_unreachable")
      #expect(!rig.pipeline.isWaitedFor(sandbox.delivery))
      isBack.isSet = true
      // Until it is time for a probe each try puts it off again.
      try await rig.until("failed", on: reactor) {
        try await rig.execute("update tacet.deliveries set due_at = now() where not is_claimed", on: reactor)
        rig.pipeline.wake(.due, on: reactor)
        return try await rig.outcomes(of: id, on: reactor).first?.decision == .failed
      }
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.reason) == ["BadDeviceToken"])
      #expect(rig.pipeline.fault(of: sandbox) == nil)
      // The history pins the verdict on the answer that brought it, and says which environment could not be asked.
      let verdicts = """
        select string_agg(a ->> 'verdict', ',')
        from tacet.push_log l, jsonb_array_elements(l.history -> $ -> 'attempts') a
        where l.subject_id = '\(id)'
        """
      for (entry, expected) in [("0", "elsewhere,postponed"), ("-1", "dropped,impossible")] {
        let sql = verdicts.replacing("$", with: entry)
        #expect(try await rig.value(sql, as: String.self, on: reactor) == expected)
      }
    }
  }

  @Test("whose push was accepted there and never recorded is sent again under the same identifiers, and learnt then")
  func crash() async throws {
    try await Chat.run { rig, chat, reactor in
      rig.channel.answer = Self.sandboxOnly
      let limits = ClaimLimits(eventsMax: 9, deliveriesMax: 9, lease: .milliseconds(1))
      let id = try await chat.post(on: reactor)[0]
      // A process that claims, sends and dies.
      let event = try #require(try await rig.store.claim(limits, on: reactor).first)
      let device = try #require(event.recipients.first?.targets.first)
      let push = try #require(try event.content?.push(about: event.subject))
      let addressee = event.addressee(of: push, device, of: event.recipients[0], timeToLive: .seconds(3600))
      let lane = Lane(PushFixtures.route.delivery, LaneConfiguration(), logger: .quiet)
      var trail = AttemptTrail()
      let verdict = await rig.pipeline.sender.verdict(
        on: try rig.apns.request(for: push, to: addressee, over: lane.route), through: rig.apns,
        to: OwnedTarget(target: device, user: event.recipients[0].userID), over: lane, until: .max, trail: &trail,
        on: reactor)
      #expect(verdict == .acceptedElsewhere(environment: "sandbox"))
      let tried = trail.history(of: device, verdict, now: 0, claimedAt: 0)
      #expect(tried.map(\.verdict) == ["elsewhere", "accepted"] && tried.map(\.status) == [400, 200])
      #expect(try await rig.environments(on: reactor) == "")
      // Its successor.
      rig.start(on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.decision) == [.sent])
      #expect(rig.channel.sent.map(\.environment) == [.production, .sandbox, .production, .sandbox])
      #expect(Set(rig.channel.sent.map(\.identifier)).count == 1)
      #expect(Set(rig.channel.sent.map { $0.request.collapseIdentifier?.text }) == [id.text])
      #expect(try await rig.environments(on: reactor) == "sandbox")
    }
  }

  @Test("a registration that comes while its push is on the way keeps what it says")
  func registeredMeanwhile() async throws {
    try await Chat.run { rig, chat, reactor in
      rig.channel.answer = Self.sandboxOnly
      rig.channel.holds = true
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      try await rig.channel.received(1, on: reactor)
      try await rig.execute("update public.push_tokens set registered_at = clock_timestamp()", on: reactor)
      rig.channel.release(on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      #expect(try await rig.environments(on: reactor) == "")
    }
  }
}
