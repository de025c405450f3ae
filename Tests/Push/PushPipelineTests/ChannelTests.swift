import Channels
import PushRules
import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("Channels beside APNs", .serialized)
struct ChannelTests {
  /// A rig whose second deliverer is scripted, and a chat whose recipients have a browser at a route.
  private static func run(
    of count: Int = 1, at route: String = "web_push/one", breaker: CircuitBreaker.Configuration = .quick,
    _ body: @escaping @Sendable (PipelineRig, Chat, ScriptedDeliverer, isolated Reactor) async throws -> Void
  ) async throws {
    try await PipelineRig.run(
      with: { _ in [ScriptedDeliverer()] },
      configure: { $0.lanes.breaker = breaker }
    ) { rig, reactor in
      let other = try #require(
        rig.pipeline.sender.deliverers[DeliveryChannel(rawValue: "web_push")] as? ScriptedDeliverer)
      let chat = try await Chat(of: count, in: rig, on: reactor)
      try await subscribe(chat, route, rig, on: reactor)
      try await body(rig, chat, other, reactor)
      other.release(on: reactor)
    }
  }

  /// Registers a browser of each recipient at a route.
  private static func subscribe(
    _ chat: Chat, _ route: String, _ rig: PipelineRig, on reactor: isolated Reactor
  ) async throws {
    for (number, user) in chat.recipients.enumerated() {
      try await rig.execute(
        """
        insert into tacet.targets (channel, address, user_id, app, keys)
        values ('web_push', 'https://\(route)/\(number),a', '\(user)', '\(route)', '{"auth":"x"}')
        """, on: reactor)
    }
  }

  @Test("a message goes to a user's phone and browser, and the ledger has one row with both")
  func both() async throws {
    try await Self.run { rig, chat, other, reactor in
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.decision) == [.sent])
      #expect(try await rig.value("select devices_accepted from tacet.push_log", as: Int32.self, on: reactor) == 2)
      #expect(rig.channel.sent.map(\.token) == ["00aa"])
      let sent = try #require(other.sent.first)
      let target = sent.addressee.target
      #expect(target.keys == #"{"auth":"x"}"# && target.address == "https://web_push/one/0,a")
      #expect(sent.push.alert?.title == "Message from Ann")
    }
  }

  @Test("a browser that is gone is dropped, and the phone keeps its token; a later registration is kept")
  func dropped() async throws {
    try await Self.run { rig, chat, other, reactor in
      other.answer = { _ in DeliveryAttempt(.dropToken(invalidSinceMilliseconds: nil), status: 410, reason: "gone") }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      try await rig.nothingLeft(on: reactor)
      let state = "select drop_reason from tacet.targets"
      #expect(try await rig.value(state, as: String.self, on: reactor) == "gone")
      #expect(try await rig.isDropped(on: reactor) == false)
      // Registered again, and refused by an answer of before.
      try await rig.execute(
        "update tacet.targets set dropped_at = null, registered_at = clock_timestamp() + interval '1 hour'", on: reactor
      )
      let second = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: second, on: reactor)
      #expect(
        try await rig.value("select dropped_at is null from tacet.targets", as: Bool.self, on: reactor))
    }
  }

  /// The answers of a browser whose service asks for a wait, and a phone that is refused once.
  private static func refuseOnce(_ rig: PipelineRig, _ other: ScriptedDeliverer, asking wait: Duration) {
    other.answer = { _ in
      var attempt = DeliveryAttempt(.retryLater(minimumWait: wait), status: 429, reason: "http_429")
      attempt.askedWait = wait
      return attempt
    }
    rig.channel.answer = { _, number in number == 1 ? .busy : .accepted }
  }

  @Test("a browser that has to wait, or for too long, keeps no phone waiting", arguments: [60, 86_400])
  func ownWaits(_ seconds: Int) async throws {
    try await Self.run(breaker: .init()) { rig, chat, other, reactor in
      Self.refuseOnce(rig, other, asking: .seconds(seconds))
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor) { $0.map(\.decision) == [.sent] }
      #expect(outcomes.count == 1 && rig.channel.sent.count == 2 && other.sent.count == 1)
      if seconds > 3600 { return try await rig.nothingLeft(on: reactor) }
      // The browser's own time comes.
      other.answer = { _ in DeliveryAttempt(.accepted, status: 201) }
      let waits = "select due_at > now() + interval '20 s' from tacet.deliveries"
      #expect(try await rig.value(waits, as: Bool.self, on: reactor))
      try await rig.execute(
        "update tacet.deliveries set due_at = now(), device_waits = null", on: reactor)
      rig.pipeline.wake(.due, on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 2 && other.sent.count == 2)
    }
  }

  @Test("a phone is tried again while a browser's service is silent")
  func silent() async throws {
    try await Self.run(breaker: .init()) { rig, chat, other, reactor in
      other.held = ["web_push/one"]
      rig.channel.answer = { _, number in number == 1 ? .busy : .accepted }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      try await rig.channel.received(2, on: reactor)
      #expect(other.sent.count == 1)
      other.release(on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      try await rig.nothingLeft(on: reactor)
      let tries = "select jsonb_array_length(history -> 0 -> 'attempts') from tacet.push_log"
      #expect(try await rig.value(tries, as: Int32.self, on: reactor) == 3)
    }
  }

  @Test("a channel that is out delays no other, and gets the push when it is back, once")
  func outage() async throws {
    try await Self.run { rig, chat, other, reactor in
      other.answer = { _ in
        DeliveryAttempt(.retryLater(minimumWait: .zero), reason: "host_unreachable", fault: .connection)
      }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      #expect(rig.channel.sent.count == 1)
      #expect(rig.pipeline.fault(of: DeliveryRoute(other.channel, name: "web_push/one")) == "host_unreachable")
      #expect(rig.pipeline.fault(of: PushFixtures.route) == nil)
      other.answer = { _ in DeliveryAttempt(.accepted, status: 201) }
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 1, "the phone has it")
      #expect(try await rig.value("select devices_accepted from tacet.push_log", as: Int32.self, on: reactor) == 2)
    }
  }

  @Test("a service that answers slowly takes its own places, and others go on")
  func slow() async throws {
    try await Self.run(of: 8, at: "web_push/two") { rig, chat, other, reactor in
      other.held = ["web_push/two"]
      rig.start(on: reactor)
      _ = try await chat.post(waking: .webhook, on: reactor)
      try await rig.channel.received(8, on: reactor)
      try await other.received(4, on: reactor)
      #expect(other.mostInFlight == 4)
      other.release(on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(other.sent.count == 8 && other.mostInFlight == 4)
      #expect(rig.channel.sent.count == 8)
    }
  }

  @Test("nothing waits for a channel that is not set up, and others of the user go")
  func absent() async throws {
    try await Chat.run { rig, chat, reactor in
      try await Self.subscribe(chat, "web_push/one", rig, on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      try await rig.nothingLeft(on: reactor)
      let reason = "select jsonb_path_query_first(history, '$[*].attempts[*].reason') #>> '{}' from tacet.push_log"
      #expect(try await rig.value(reason, as: String.self, on: reactor) == "channel_not_configured")
    }
  }
}
