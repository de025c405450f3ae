import Channels
import FoundationEssentials
import Postgres
import PushRules
import PushStore
import Reactors
import TestIDs
import Testing

@testable import PushPipeline

@Suite("The pipeline", .serialized)
struct DeliveryPipelineTests {
  @Test("a message for somebody who is away is sent and recorded, and nothing is left")
  func away() async throws {
    try await Chat.run { rig, chat, reactor in
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcome = try #require(try await rig.outcomes(of: id, on: reactor).first)
      #expect(outcome.decision == .sent)
      #expect(outcome.userID == chat.recipients[0])
      #expect(outcome.devicesAccepted == 1)
      #expect(rig.channel.sent.map(\.token) == ["00aa"])
      #expect(rig.channel.sent.map(\.environment) == [.production])
      try await rig.nothingLeft(on: reactor)
      #expect(await rig.pipeline.drain(within: .seconds(60), on: reactor))
      #expect(rig.outcomes(.sent) == 1)
      let isWhole = try await rig.value(
        """
        select sent_at >= claimed_at and claimed_at >= enqueued_at and attempts = 1 and not opened and content is null
          and woken_microseconds >= 0 and decided_microseconds >= 0 and accepted_microseconds >= decided_microseconds
        from tacet.push_log
        """, as: Bool.self, on: reactor)
      #expect(isWhole)
    }
  }

  @Test("an event without recipients leaves the inbox and no trace")
  func nobody() async throws {
    try await Chat.run(of: 0) { rig, chat, reactor in
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).isEmpty)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("recipients of one message are decided each by their own situation")
  func mixed() async throws {
    try await Chat.run(of: 4) { rig, chat, reactor in
      let users = chat.recipients
      let id = try await chat.post(on: reactor)[0]
      try await rig.execute(
        """
        update public.messages set read_by = array['\(users[1])']::uuid[];
        update public.conversation_participants
        set last_seen = (select created_at from public.messages) - interval '1 s' where user_id = '\(users[2])';
        delete from public.push_tokens where user_id = '\(users[3])';
        """, on: reactor)
      rig.start(on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      let reasons = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.userID, $0.reason ?? $0.decision.rawValue) })
      #expect(
        reasons == [users[0]: "sent", users[1]: "already_read", users[2]: "user_viewing", users[3]: "no_tokens"])
      #expect(rig.channel.sent.map(\.token) == ["00aa"])
    }
  }

  @Test("each device gets its own push; one that fails for now is tried again alone, under the same identifiers")
  func twoDevices() async throws {
    try await Chat.run(devices: ["aa", "bb"]) { rig, chat, reactor in
      rig.channel.answer = { push, number in push.token == "00bb" && number <= 2 ? .unreachable : .accepted }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor) { $0.first?.devicesAccepted == 2 }
      #expect(outcomes.map(\.decision) == [.sent])
      let sent = rig.channel.sent
      try #require(sent.map(\.token).sorted() == ["00aa", "00bb", "00bb"])
      #expect(sent.last?.token == "00bb")
      #expect(Set(sent.map(\.identifier)).count == 2)
      #expect(Set(sent.map { $0.request.collapseIdentifier?.text }).count == 1)
      #expect(sent[2].request == sent[0].request || sent[2].request == sent[1].request)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test(
    "a push whose fate is unknown is sent again until APNs answers", arguments: [APNSOutcome.answerLost, .unreachable])
  func retried(failure: APNSOutcome) async throws {
    try await Chat.run { rig, chat, reactor in
      rig.channel.answer = { _, number in number < 4 ? failure : .accepted }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let first = try await rig.outcomes(of: id, on: reactor)
      #expect(first.map(\.decision) != [.failed])
      _ = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }
      #expect(rig.channel.sent.count == 4)
      #expect(Set(rig.channel.sent.map(\.identifier)).count == 1)
      #expect(try await rig.value("select attempts::int from tacet.push_log", as: Int32.self, on: reactor) == 4)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("a dead token is dropped, unless the app has registered it since", arguments: [(10, true), (-10, false)])
  func deadToken(secondsAfterRegistration: Int64, isDropped: Bool) async throws {
    try await Chat.run { rig, chat, reactor in
      let registered = try await rig.value(
        "select (extract(epoch from registered_at) * 1000)::bigint from public.push_tokens", as: Int64.self, on: reactor
      )
      let since = registered + secondsAfterRegistration * 1000
      rig.channel.answer = { _, _ in
        .answered(APNSAnswer(status: 410, reason: "Unregistered", timestampMilliseconds: since))
      }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.decision) == [.failed])
      #expect(outcomes.map(\.reason) == ["Unregistered"])
      let row = "select invalidated_at is not null from public.push_tokens"
      #expect(try await rig.value(row, as: Bool.self, on: reactor) == isDropped)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("wrong credentials hold the push and leave the token alone")
  func credentials() async throws {
    try await Chat.run { rig, chat, reactor in
      rig.channel.answer = { _, _ in .badKey }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.decision) == [.held])
      #expect(outcomes.map(\.reason) == ["InvalidProviderToken"])
      let row = """
        select invalidated_at is null and d.state = 'waiting' and d.lane = 'com.example.app/production'
        from public.push_tokens, tacet.deliveries d
        """
      #expect(try await rig.value(row, as: Bool.self, on: reactor))
    }
  }

  @Test("a token that cannot be one fails alone; the other device is sent to")
  func malformedToken() async throws {
    try await Chat.run(devices: ["xyz", "bb"]) { rig, chat, reactor in
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.decision) == [.sent])
      #expect(rig.channel.sent.map(\.token) == ["00bb"])
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("the ledger says what woke the service", arguments: [WakeCause.notify, .webhook, .due])
  func wakeCauses(cause: WakeCause) async throws {
    try await Chat.run(configure: withoutPolls) { rig, chat, reactor in
      rig.start(on: reactor)
      try await expectWoken(by: cause, rig, on: reactor) {
        try await chat.post(waking: cause, on: reactor)
      }
    }
  }

  @Test("what waited before the start is found by the start; what nobody announces is found by the poll")
  func withoutWakeUps() async throws {
    try await Chat.run { rig, chat, reactor in
      let early = try await chat.post(on: reactor)[0]
      rig.start(on: reactor)
      _ = try await rig.outcomes(of: early, on: reactor)
      let late = try await chat.post(on: reactor)[0]
      _ = try await rig.outcomes(of: late, on: reactor)
      // The alarm that the first look may have set is a timer of the service too, and may come before the poll.
      for (id, causes) in [(early, ["start"]), (late, ["poll", "due"])] {
        let row = "select woken_by from tacet.push_log where subject_id = '\(id)'"
        #expect(causes.contains(try await rig.value(row, as: String.self, on: reactor)))
      }
    }
  }

  @Test("a notification from the host's insert wakes the pipeline without a poll")
  func notified() async throws {
    try await Chat.run(configure: withoutPolls) { rig, chat, reactor in
      rig.start(on: reactor)
      let status = ListenStatus()
      let listener = WakeListener(
        rig.database, pool: rig.pool, status: status, logger: .quiet, handler: rig.pipeline)
      listener.start(on: reactor)
      while status.state != .listening { await reactor.sleep(for: .milliseconds(1)) }
      try await expectWoken(by: .notify, rig, on: reactor) {
        try await chat.post(on: reactor)[0]
      }
      await listener.close(on: reactor)
    }
  }

  /// Posts three messages one after the other. The look at the start and the alarm it may set can find one each before
  /// the cause in question does; nothing else can.
  private func expectWoken(
    by cause: WakeCause, _ rig: PipelineRig, on reactor: isolated Reactor, _ post: () async throws -> HostID
  ) async throws {
    for _ in 0..<3 { _ = try await rig.outcomes(of: try await post(), on: reactor) }
    let count = "select count(*) from tacet.push_log where woken_by = '\(cause.rawValue)'"
    #expect(try await rig.value(count, as: Int64.self, on: reactor) > 0)
  }
}

@Suite("Holds in the pipeline", .serialized)
struct DeliveryPipelineHoldTests {
  @Test("a message for somebody who is looking is held until exactly the end of the window")
  func held() async throws {
    try await Chat.run { rig, chat, reactor in
      try await chat.see(ago: "20 s", on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcome = try #require(try await rig.outcomes(of: id, on: reactor).first)
      #expect(outcome.decision == .held)
      #expect(outcome.reason == "user_viewing")
      let until = try await rig.value(
        """
        select (extract(epoch from last_seen + interval '60 s') * 1000000)::bigint
        from public.conversation_participants where last_seen is not null
        """, as: Int64.self, on: reactor)
      #expect(outcome.heldUntil == until)
      let isDueThen = try await rig.value(
        "select due_at = held_until and state = 'held' from tacet.deliveries, tacet.push_log", as: Bool.self,
        on: reactor)
      #expect(isDueThen)
      #expect(rig.channel.sent.isEmpty)
    }
  }

  @Test("a hold that ends is sent, by the pipeline's own timer")
  func released() async throws {
    // Long enough that a machine under load posts the message within it.
    try await PipelineRig.run(window: .seconds(4), configure: withoutPolls) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.start(on: reactor)
      try await chat.see(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let first = try await rig.outcomes(of: id, on: reactor)
      #expect(first.map(\.decision) == [.held])
      let last = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }
      #expect(last.map(\.devicesAccepted) == [1])
      #expect(rig.channel.sent.count == 1)
      let row = "select woken_by = 'due' and attempts = 2 and held_until is null from tacet.push_log"
      #expect(try await rig.value(row, as: Bool.self, on: reactor))
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("a message that is read while it is held is never sent")
  func readMeanwhile() async throws {
    try await Chat.run { rig, chat, reactor in
      rig.start(on: reactor)
      try await chat.see(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      try await chat.read(on: reactor)
      try await rig.execute("update tacet.deliveries set due_at = now()", on: reactor)
      rig.pipeline.wake(.due, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision != .held }
      #expect(outcomes.map(\.reason) == ["already_read"])
      #expect(rig.channel.sent.isEmpty)
      try await rig.nothingLeft(on: reactor)
    }
  }
}

@Suite("Large events")
struct LargeEventTests {
  @Test("an event is taken in parts, and everybody gets it once", arguments: [1, 9, 10, 11, 20, 35])
  func parts(_ count: Int) async throws {
    try await Chat.run(of: count, configure: { $0.recipientsPerClaimMax = 10 }) { rig, chat, reactor in
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.count == count)
      #expect(outcomes.allSatisfy { $0.decision == .sent })
      #expect(rig.channel.sent.count == count)
      #expect(Set(rig.channel.sent.map(\.token)).count == count)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("a message that comes while a large event is under way does not wait for the rest of it")
  func fair() async throws {
    try await PipelineRig.run(configure: { $0.recipientsPerClaimMax = 10 }) { rig, reactor in
      let room = try await Chat(of: 100, devices: ["ff"], in: rig, on: reactor)
      let friends = try await Chat(devices: ["ee"], in: rig, on: reactor)
      rig.channel.holds = true
      try await room.post(on: reactor)
      rig.start(on: reactor)
      try await rig.channel.received(10, on: reactor)
      try await friends.post(on: reactor)
      rig.channel.release(10, on: reactor)
      // The next part of the room and the message to the friend come with one claim.
      try await rig.channel.received(21, on: reactor)
      #expect(rig.channel.sent[..<21].contains { $0.token.hasSuffix("ee") })
      rig.channel.release(on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 101)
    }
  }

  @Test("a claim takes fewer events when they are large")
  func room() async throws {
    try await PipelineRig.run(configure: {
      $0.recipientsPerClaimMax = 10
      $0.pushesInFlightMax = 40
      $0.eventsPerClaimMax = 2
    }) { rig, reactor in
      let room = try await Chat(of: 10, in: rig, on: reactor)
      rig.channel.holds = true
      try await room.post(20, on: reactor)
      rig.start(on: reactor)
      try await rig.channel.received(40, on: reactor)
      for _ in 0..<20 {
        rig.pipeline.wake(.webhook, on: reactor)
        _ = try await rig.value("select 1", as: Int32.self, on: reactor)
      }
      #expect(rig.channel.sent.count == 40)
      rig.channel.release(on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 200)
    }
  }
}

@Suite("A user with very many device tokens")
struct ManyTokensTests {
  /// SQL for the tokens of one user, and how many of them are tried.
  private static let crowds: [(tokens: String, tried: Int)] = [
    ("select lpad(to_hex(n), 64, '0') from generate_series(1, 20000) n", ClaimLimits.devicesMax),
    ("select n || repeat(U&'\\0301', 115000) from generate_series(1, 100) n", 0),
    ("select n || repeat(U&'\\0301', 200) from generate_series(1, 1200) n", ClaimLimits.devicesMax),
  ]

  @Test("costs few attempts and a short history, and a neighbour's message goes with the same claim", arguments: 0..<3)
  func crowd(_ index: Int) async throws {
    let (tokens, tried) = Self.crowds[index]
    try await PipelineRig.run { rig, reactor in
      let crowded = try await Chat(devices: [], in: rig, on: reactor)
      let neighbour = try await Chat(devices: ["ee"], in: rig, on: reactor)
      try await rig.execute(
        "insert into public.push_tokens (user_id, device_token) select '\(crowded.recipients[0])', t from (\(tokens)) t (t)",
        on: reactor)
      let own = try await crowded.post(on: reactor)[0]
      let other = try await neighbour.post(on: reactor)[0]
      rig.start(on: reactor)
      #expect(try await rig.outcomes(of: other, on: reactor).map(\.decision) == [.sent])
      let outcomes = try await rig.outcomes(of: own, on: reactor)
      #expect(outcomes.count == 1)
      let attempts = try await rig.value(
        """
        select sum(jsonb_array_length(h -> 'attempts') + coalesce((h ->> 'attempts_left_out')::int, 0))
        from tacet.push_log, jsonb_array_elements(history) h where subject_id = '\(own)'
        """, as: Int64?.self, on: reactor)
      #expect((attempts ?? 0) == Int64(tried))
      let bytes = try await rig.value(
        "select max(octet_length(history::text)) from tacet.push_log", as: Int32.self, on: reactor)
      #expect(bytes < 5000)
      try await rig.nothingLeft(on: reactor)
    }
  }
}
