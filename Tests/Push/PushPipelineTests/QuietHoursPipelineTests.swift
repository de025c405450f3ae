import FoundationEssentials
import Postgres
import PushRules
import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("Quiet hours in the pipeline", .serialized)
struct QuietHoursPipelineTests {
  /// A message lives for less time than it is held here.
  private static let shortLife: @Sendable (inout PipelineConfiguration) -> Void = {
    withoutPolls(&$0)
    $0.policy = SuppressionPolicy(window: .seconds(4), timeToLive: .seconds(5))
  }

  @Test("a message in quiet hours is held until exactly their end, is sent then by itself, and has not expired")
  func held() async throws {
    try await Chat.run(configure: Self.shortLife) { rig, chat, reactor in
      rig.start(on: reactor)
      try await Self.quiet(chat, end: "8 s", in: rig, on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let first = try await rig.outcomes(of: id, on: reactor)
      #expect(first.map(\.reason) == ["quiet_hours"])
      let isExact = """
        select held_until = date_trunc('day', held_until at time zone 'UTC') at time zone 'UTC' + quiet_end
        from tacet.push_log, tacet.preferences
        """
      #expect(try await rig.value(isExact, as: Bool.self, on: reactor))
      let last = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision != .held }
      #expect(last.map(\.decision) == [.sent])
      #expect(try await rig.value("select attempts::int4 from tacet.push_log", as: Int32.self, on: reactor) == 2)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("a hold for presence that ends in quiet hours is held on for them; both count as held")
  func presenceThenQuiet() async throws {
    try await Chat.run(configure: Self.shortLife) { rig, chat, reactor in
      rig.start(on: reactor)
      try await chat.see(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.reason) == ["user_viewing"])
      try await Self.quiet(chat, end: "8 s", in: rig, on: reactor)
      let second = try await rig.outcomes(of: id, on: reactor) { $0.first?.reason != "user_viewing" }
      #expect(second.map(\.reason) == ["quiet_hours"])
      let last = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision != .held }
      #expect(last.map(\.decision) == [.sent])
      #expect(rig.channel.sent.count == 1)
    }
  }

  @Test("somebody who left before quiet hours is decided about once, and once more for each later look")
  func noLoop() async throws {
    try await PipelineRig.run(
      configure: {
        withoutPolls(&$0)
        $0.holdReviewWait = .milliseconds(5)
      }
    ) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.start(on: reactor)
      try await chat.see(ago: "10 min", on: reactor)
      try await rig.execute("update public.conversation_participants set tacet_left_at = now()", on: reactor)
      try await Self.quiet(chat, end: "1 h", in: rig, on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.reason) == ["quiet_hours"])
      // A review that released the hold would come every few milliseconds; that nothing comes has no signal.
      await reactor.sleep(for: .milliseconds(300))
      let attempts = "select attempts::int4 from tacet.push_log"
      #expect(try await rig.value(attempts, as: Int32.self, on: reactor) == 1)
      try await chat.see(ago: "9 min", on: reactor)
      rig.pipeline.wake(.due, on: reactor)
      try await rig.await(Int32(2), of: attempts, on: reactor)
      await reactor.sleep(for: .milliseconds(300))
      #expect(try await rig.value(attempts, as: Int32.self, on: reactor) == 2)
    }
  }

  @Test("preferences that change while a hold for quiet hours is being recorded are found by its review")
  func changedMeanwhile() async throws {
    try await PipelineRig.run(
      configure: {
        withoutPolls(&$0)
        $0.holdReviewWait = .milliseconds(5)
      }
    ) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      try await Self.quiet(chat, end: "1 h", in: rig, on: reactor)
      // As a commit between the claim's snapshot and the record would: nothing releases the hold, whose row is not there yet.
      try await rig.execute(
        """
        create function end_quiet_hours() returns trigger language plpgsql as $$
        begin
          update tacet.preferences set quiet_start = null, quiet_end = null, quiet_policy = null, changed_at = clock_timestamp();
          return null;
        end $$;
        create trigger end_quiet after insert on tacet.deliveries
        for each statement execute function end_quiet_hours();
        """, on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let last = try await rig.outcomes(of: id, on: reactor) { $0.first.map { $0.decision != .held } == true }
      #expect(last.map(\.decision) == [.sent])
    }
  }

  /// Quiet hours in UTC that began an hour ago.
  private static func quiet(
    _ chat: Chat, end: String, in rig: PipelineRig, on reactor: isolated Reactor
  ) async throws {
    let now = "(clock_timestamp() at time zone 'UTC')"
    try await rig.execute(
      """
      insert into tacet.preferences (changed_at, user_id, quiet_start, quiet_end, quiet_zone, quiet_policy) values (
        now() - interval '1 d', '\(chat.recipients[0])', (\(now) - interval '1 h')::time,
        (\(now) + interval '\(end)')::time, 'UTC', 'hold')
      """, on: reactor)
  }
}

/// What happens to a hold between its claim and its record is found by the review; nothing else wakes these pipelines.
@Suite("Review of holds")
struct HoldReviewTests {
  private static let quickReview: @Sendable (inout PipelineConfiguration) -> Void = {
    withoutPolls(&$0)
    $0.holdReviewWait = .milliseconds(300)
  }

  @Test(
    "what a host commits while the hold is being recorded ends it soon after",
    arguments: [
      ("update public.conversation_participants set tacet_left_at = clock_timestamp()", OutcomeDecision.sent, nil),
      (
        "update public.conversation_participants set last_seen = clock_timestamp()", .skipped, "user_viewing"
      ),
      ("update public.messages set read_by = array(select id from public.profiles)", .skipped, "already_read"),
      ("delete from public.messages", .skipped, "deleted"),
      ("delete from public.conversation_participants", .skipped, "not_participant"),
    ] as [(String, OutcomeDecision, String?)])
  func found(_ change: String, _ decision: OutcomeDecision, _ reason: String?) async throws {
    try await Chat.run(configure: Self.quickReview) { rig, chat, reactor in
      try await chat.see(ago: "1 s", on: reactor)
      let host = try await PostgresConnection.connect(rig.database, logger: .quiet, on: reactor)
      defer { host.close(on: reactor) }
      let id = try await chat.post(on: reactor)[0]
      // The change is made before the hold is there to be released, and committed after it was decided without it.
      try await host.simple("begin; \(change)", on: reactor)
      rig.start(on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      try await host.simple("commit", on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == decision }
      #expect(outcomes.map(\.reason) == [reason])
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("what a host commits long after the first review ends the hold as well")
  func longTransaction() async throws {
    try await PipelineRig.run(configure: {
      withoutPolls(&$0)
      $0.holdReviewWait = .milliseconds(20)
    }) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      try await chat.see(ago: "1 s", on: reactor)
      let host = try await PostgresConnection.connect(rig.database, logger: .quiet, on: reactor)
      defer { host.close(on: reactor) }
      let id = try await chat.post(on: reactor)[0]
      let change = "update public.messages set read_by = array(select id from public.profiles)"
      try await host.simple("begin; \(change)", on: reactor)
      rig.start(on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      // The reviews after 20, 60 and 140 ms have found nothing.
      await reactor.sleep(for: .milliseconds(200))
      #expect(try await rig.hasWork(on: reactor))
      try await host.simple("commit", on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .skipped }
      #expect(outcomes.map(\.reason) == ["already_read"])
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("a hold about which nothing was learnt stays")
  func stays() async throws {
    try await PipelineRig.run(configure: {
      Self.quickReview(&$0)
      $0.holdReviewWait = .milliseconds(1)
    }) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      try await chat.see(ago: "1 s", on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      let hold = RecordedHold(subject: .message(id), userID: chat.recipients[0])
      #expect(try await rig.store.review([hold], on: reactor).released == 0)
      #expect(try await rig.value("select attempts from tacet.deliveries", as: Int32.self, on: reactor) == 1)
    }
  }
}
