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
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcome = try #require(try await rig.outcomes(of: id, on: reactor).first)
      #expect(outcome.decision == .sent)
      #expect(outcome.userID == chat.recipients[0])
      #expect(outcome.devicesAccepted == 1)
      #expect(rig.channel.sent.map(\.token) == ["00aa"])
      #expect(rig.channel.sent.map(\.environment) == [.production])
      try await rig.nothingLeft(on: reactor)
      #expect(await rig.pipeline.drain(within: .seconds(10), on: reactor))
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
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(of: 0, in: rig, on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).isEmpty)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("recipients of one message are decided each by their own situation")
  func mixed() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(of: 4, in: rig, on: reactor)
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
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(devices: ["aa", "bb"], in: rig, on: reactor)
      rig.channel.answer = { push, number in push.token == "00bb" && number <= 2 ? .unreachable : .accepted }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor) { $0.first?.devicesAccepted == 2 }
      #expect(outcomes.map(\.decision) == [.sent])
      let sent = rig.channel.sent
      try #require(sent.map(\.token).sorted() == ["00aa", "00bb", "00bb"])
      #expect(sent.last?.token == "00bb")
      #expect(Set(sent.map(\.identifier)).count == 2)
      #expect(Set(sent.map { $0.request.head.collapseIdentifier?.text }).count == 1)
      #expect(sent[2].request == sent[0].request || sent[2].request == sent[1].request)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test(
    "a push whose fate is unknown is sent again until APNs answers", arguments: [PushAttempt.answerLost, .unreachable])
  func retried(failure: PushAttempt) async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
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
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let registered = try await rig.value(
        "select (extract(epoch from registered_at) * 1000)::bigint from public.push_tokens", as: Int64.self, on: reactor
      )
      let since = registered + secondsAfterRegistration * 1000
      rig.channel.answer = { _, _ in
        .answered(PushAnswer(status: 410, reason: "Unregistered", timestampMilliseconds: since))
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
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
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
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(devices: ["xyz", "bb"], in: rig, on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.decision) == [.sent])
      #expect(rig.channel.sent.map(\.token) == ["00bb"])
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("the ledger says what woke the service", arguments: [WakeCause.notify, .webhook, .neighbour])
  func wakeCauses(cause: WakeCause) async throws {
    try await PipelineRig.run(configure: withoutPolls) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.start(on: reactor)
      try await expectWoken(by: cause, rig, on: reactor) {
        try await chat.post(waking: cause, on: reactor)
      }
    }
  }

  @Test("what waited before the start is found by the start; what nobody announces is found by the poll")
  func withoutWakeUps() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
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
    try await PipelineRig.run(configure: withoutPolls) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
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
