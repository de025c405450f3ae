import FoundationEssentials
import Postgres
import PushRules
import PushStore
import Reactors
import Testing

@testable import PushPipeline

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
    try await PipelineRig.run(configure: Self.quickReview) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
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
