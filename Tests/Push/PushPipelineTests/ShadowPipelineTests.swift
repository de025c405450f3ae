import FoundationEssentials
import PushRules
import PushStore
import Reactors
import TestIDs
import Testing

@testable import PushPipeline

@Suite("A shadow", .serialized)
struct ShadowPipelineTests {
  private static let attempts = """
    select coalesce(string_agg(concat_ws(' ', a ->> 'device', a ->> 'route', a ->> 'verdict', a ->> 'reason',
      case when a ? 'apns_id' then 'named' end), ', ' order by a ->> 'device'), '')
    from tacet.push_log l, jsonb_array_elements(l.history) h, jsonb_array_elements(h -> 'attempts') a
    """

  @Test("of all kinds builds each push, records where it would have gone and when, and sends none")
  func all() async throws {
    try await Chat.run(devices: ["aa", "bb"], configure: { $0.shadow = .all }) { rig, chat, reactor in
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcome = try #require(try await rig.outcomes(of: id, on: reactor).first)
      #expect(outcome.decision == .skipped)
      #expect(outcome.reason == "shadow")
      #expect(outcome.devicesAccepted == 0)
      #expect(
        try await rig.value(Self.attempts, as: String.self, on: reactor)
          == "00aa com.example.app/production shadow named, 00bb com.example.app/production shadow named")
      let isDated = "select sent_at >= claimed_at and accepted_microseconds is null from tacet.push_log"
      #expect(try await rig.value(isDated, as: Bool.self, on: reactor))
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.isEmpty)
      #expect(rig.outcomes(.skipped) == 1 && rig.outcomes(.sent) == 0)
    }
  }

  @Test("holds as the service does, and settles when the hold is over; a read ends it")
  func holds() async throws {
    // Long enough that a machine under load posts the messages within it.
    try await PipelineRig.run(window: .seconds(4), configure: { $0.shadow = .all }) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.start(on: reactor)
      try await chat.see(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.reason) == ["user_viewing"])
      let last = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision != .held }
      #expect(last.map(\.reason) == ["shadow"])
      #expect(try await rig.value("select sent_at is not null from tacet.push_log", as: Bool.self, on: reactor))
      try await chat.see(on: reactor)
      let other = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: other, on: reactor)
      try await chat.read(on: reactor)
      let read = try await rig.outcomes(of: other, on: reactor) { $0.first?.decision != .held }
      #expect(read.map(\.reason) == ["already_read"])
      #expect(rig.channel.sent.isEmpty)
    }
  }

  @Test("of some kinds lets the others go")
  func some() async throws {
    try await Chat.run(configure: { $0.shadow = .only(["check_in"]) }) { rig, chat, reactor in
      rig.start(on: reactor)
      let message = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: message, on: reactor).map(\.decision) == [.sent])
      let push = PushSubmission(userID: chat.recipients[0], kind: "check_in", title: "Hello", body: "")
      #expect(try await rig.store.submit(push, on: reactor) != nil)
      rig.pipeline.wake(.webhook, on: reactor)
      try await rig.nothingLeft(on: reactor)
      let reasons =
        "select string_agg(push_type || ' ' || coalesce(reason, '-'), ', ' order by push_type) from tacet.push_log"
      #expect(try await rig.value(reasons, as: String.self, on: reactor) == "check_in shadow, message -")
      #expect(rig.channel.sent.count == 1)
    }
  }

  @Test("counts a push that it withheld as the push of the day, and for the gap between campaigns")
  func caps() async throws {
    try await Chat.run(configure: { $0.shadow = .all }) { rig, chat, reactor in
      rig.start(on: reactor)
      var push = PushSubmission(userID: chat.recipients[0], kind: "check_in", title: "Hello", body: "")
      push.capGroup = "care"
      for _ in 0..<2 { _ = try await rig.store.submit(push, on: reactor) }
      rig.pipeline.wake(.webhook, on: reactor)
      try await rig.nothingLeft(on: reactor)
      let reasons = "select string_agg(reason, ', ' order by reason) from tacet.push_log"
      #expect(try await rig.value(reasons, as: String.self, on: reactor) == "pushed_today, shadow")
      try await rig.execute(
        """
        insert into tacet.campaigns (name, audience, material, push_types, cap_group, definition)
        values ('another', 'x', 'x', '{check_in}', 'another', '{}')
        """, on: reactor)
      let gate = """
        select g.reason
        from tacet.campaign_gate(
          '\(chat.recipients[0])', false, 'another', current_date, now() - interval '1 day', now() + interval '1 day',
          now() - interval '7 days') g
        """
      #expect(try await rig.value(gate, as: String.self, on: reactor) == "recently_pushed")
    }
  }

  @Test("says of a target without a route, and of one that no push can reach, what it is; nothing waits")
  func unreachable() async throws {
    try await Chat.run(of: 3, configure: { $0.shadow = .all }) { rig, chat, reactor in
      try await rig.execute(
        """
        update public.push_tokens set app = 'com.example.other' where device_token = '10aa';
        update public.push_tokens set app = 'not an app' where device_token = '20aa';
        """, on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      let words = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.userID, "\($0.decision) \($0.reason ?? "")") })
      #expect(
        chat.recipients.map { words[$0] } == [
          "skipped shadow", "failed app_not_configured", "failed bundleIdentifierMalformed",
        ])
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.isEmpty)
    }
  }

  @Test("withholds pushes over every channel, and of retries that an earlier run left")
  func channels() async throws {
    try await PipelineRig.run(
      with: { _ in [ScriptedDeliverer()] }, configure: { $0.shadow = .all }
    ) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      try await rig.execute(
        """
        insert into tacet.targets (channel, address, user_id, app)
        values ('web_push', 'https://push.example.com/1', '\(chat.recipients[0])', 'web_push/one')
        """, on: reactor)
      let id = try await chat.post(on: reactor)[0]
      try await rig.execute(
        """
        with gone as (delete from tacet.inbox returning *)
        insert into tacet.deliveries (subject_id, kind, user_id, due_at, enqueued_at, attempts, state, conversation_id, lane)
        select subject_id, kind, '\(chat.recipients[0])', now(), enqueued_at, 1, 'waiting', conversation_id,
          'com.example.app/production'
        from gone
        """, on: reactor)
      rig.start(on: reactor)
      rig.pipeline.wake(.webhook, on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.reason) == ["shadow"])
      let routes = try await rig.value(Self.attempts, as: String.self, on: reactor)
      #expect(routes.contains("com.example.app/production shadow") && routes.contains("web_push/one shadow"))
      #expect(rig.channel.sent.isEmpty)
      let others = rig.pipeline.sender.deliverers.values.compactMap { $0 as? ScriptedDeliverer }
      #expect(others.map(\.sent.count) == [0])
    }
  }

  @Test("withholds what shows no message: read syncs and the starts of Live Activities")
  func others() async throws {
    try await Chat.run(devices: ["aa", "bb"], configure: { $0.shadow = .all }) { rig, chat, reactor in
      let user = chat.recipients[0]
      let message = try await chat.post(on: reactor)[0]
      try await rig.execute(
        """
        select tacet.read_conversation('\(chat.id)', '\(user)', '\(message)', '00aa', true);
        select tacet.put_start_token(
          '\(user)', '00aa', 'WorkoutActivityAttributes', '\(String(repeating: "b1", count: 40))', null, null);
        select tacet.start_live_activity(
          'run', '\(user)', 'WorkoutActivityAttributes', '{"workoutType": "Run", "startTime": "2026-11-25T07:30:00Z"}',
          null, null, true);
        """, on: reactor)
      rig.start(on: reactor)
      rig.pipeline.wake(.webhook, on: reactor)
      try await rig.nothingLeft(on: reactor)
      let reasons = "select string_agg(push_type || ' ' || reason, ', ' order by push_type) from tacet.push_log"
      #expect(
        try await rig.value(reasons, as: String.self, on: reactor)
          == "live_activity shadow, message already_read, read_sync shadow")
      #expect(rig.channel.sent.isEmpty)
    }
  }

  @Test("a push that one device had before stays sent")
  func acceptedBefore() {
    let verdicts: [DeviceVerdict] = [.refused(reason: "BadTopic"), .shadowed(lane: "a/production", identifier: "id")]
    let new = PushFixtures.delivery(of: verdicts).outcome(PushFixtures.makePacing())
    #expect(new.decision == .skipped && new.reason == "shadow" && new.remaining == nil)
    let known = PushFixtures.delivery(of: verdicts, accepted: ["0011"]).outcome(PushFixtures.makePacing())
    #expect(known.decision == .sent && known.acceptedDevices == ["0011"])
  }
}
