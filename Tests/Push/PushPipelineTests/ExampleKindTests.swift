import Channels
import FoundationEssentials
import PushRules
import PushStore
import Reactors
import TestIDs
import TestRepository
import Testing

@testable import PushPipeline

/// The files of `db/examples`, as a host would use them: each is run against a database, and an event of it goes all the way.
@Suite("The examples of watched kinds")
struct ExampleKindTests {
  private static func example(_ name: String) throws -> String {
    try Repository.text("db/examples/\(name).sql")
  }

  /// People with a device each.
  private static func people(_ names: [String], in rig: PipelineRig, on reactor: isolated Reactor) async throws
    -> [HostID]
  {
    var ids: [HostID] = []
    for (number, name) in names.enumerated() {
      let id = HostID.new()
      try await rig.execute(
        """
        insert into public.profiles (id, name) values ('\(id)', '\(name)');
        insert into public.push_tokens (user_id, device_token) values ('\(id)', 'aa0\(number)')
        """, on: reactor)
      ids.append(id)
    }
    return ids
  }

  private static func look(
    _ user: HostID, _ kind: String, _ id: HostID, in rig: PipelineRig, on reactor: isolated Reactor
  ) async throws {
    try await rig.execute(
      """
      insert into tacet.surface_views (user_id, surface_kind, surface_id, last_seen)
      values ('\(user)', '\(kind)', '\(id)', clock_timestamp())
      """, on: reactor)
  }

  private static let decisions = """
    select coalesce(string_agg(concat_ws(' ', p.name, l.push_type, l.decision, l.reason), ', ' order by p.name), '')
    from tacet.push_log l join public.profiles p on p.id = l.user_id
    """

  @Test("whoever asked is told that the request is claimed, or held while looking at it, and sent on leaving")
  func claimedRequest() async throws {
    let sql = try Self.example("claimed_request")
    try await PipelineRig.run { rig, reactor in
      for _ in 0..<2 { try await rig.execute(sql, on: reactor) }
      let people = try await Self.people(["Ann", "Ben", "Cleo"], in: rig, on: reactor)
      let requests = [HostID.new(), HostID.new()]
      try await rig.execute(
        """
        insert into public.requests (id, requester_id, title) values
          ('\(requests[0])', '\(people[1])', 'A lift'), ('\(requests[1])', '\(people[2])', 'Eggs')
        """, on: reactor)
      try await Self.look(people[2], "request", requests[1], in: rig, on: reactor)
      rig.start(on: reactor)
      try await rig.execute("update public.requests set claimed_by = '\(people[0])'", on: reactor)
      rig.pipeline.wake(.notify, on: reactor)
      try await rig.channel.received(1, on: reactor)
      try await rig.await(
        "Ben request_claimed sent, Cleo request_claimed held user_viewing", of: Self.decisions, on: reactor)
      let body = String(decoding: rig.channel.sent[0].request.body, as: UTF8.self)
      #expect(rig.channel.sent[0].token == "aa01")
      #expect(body.contains(#""title":"Ann takes on your request","body":"A lift""#), "\(body)")
      #expect(body.contains(#""surface_kind":"request","#), "\(body)")

      try await rig.execute(
        """
        update tacet.surface_views set left_at = clock_timestamp();
        select tacet.release_conversation('\(requests[1])', '\(people[2])')
        """, on: reactor)
      rig.pipeline.wake(.notify, on: reactor)
      try await rig.channel.received(2, on: reactor)
      #expect(rig.channel.sent[1].token == "aa02")
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("a request that is deleted while its push is held is recorded as deleted")
  func deletedRequest() async throws {
    let sql = try Self.example("claimed_request")
    try await PipelineRig.run { rig, reactor in
      try await rig.execute(sql, on: reactor)
      let people = try await Self.people(["Ann", "Ben"], in: rig, on: reactor)
      let request = HostID.new()
      try await rig.execute(
        "insert into public.requests (id, requester_id, title) values ('\(request)', '\(people[1])', 'A lift')",
        on: reactor)
      try await Self.look(people[1], "request", request, in: rig, on: reactor)
      rig.start(on: reactor)
      for (change, decision) in [
        ("update public.requests set claimed_by = '\(people[0])'", "held user_viewing"),
        ("delete from public.requests", "skipped deleted"),
      ] {
        try await rig.execute(change, on: reactor)
        rig.pipeline.wake(.notify, on: reactor)
        try await rig.await("Ben request_claimed \(decision)", of: Self.decisions, on: reactor)
      }
      #expect(rig.channel.sent.isEmpty)
    }
  }

  @Test("the asker and the followers are told of an answer; who looks at the question is held, who answers is not told")
  func answeredQuestion() async throws {
    let sql = try Self.example("answered_question")
    try await PipelineRig.run { rig, reactor in
      for _ in 0..<2 { try await rig.execute(sql, on: reactor) }
      let people = try await Self.people(["Ann", "Ben", "Cleo"], in: rig, on: reactor)
      let (question, answer) = (HostID.new(), HostID.new())
      try await rig.execute(
        """
        insert into public.questions (id, author_id, text) values ('\(question)', '\(people[1])', 'Why?');
        insert into public.question_followers
        select '\(question)', id from unnest('{\(people[0]),\(people[1]),\(people[2])}'::uuid[]) id
        """, on: reactor)
      try await Self.look(people[2], "question", question, in: rig, on: reactor)
      rig.start(on: reactor)
      try await rig.execute(
        "insert into public.answers values ('\(answer)', '\(question)', '\(people[0])', 'Because.')", on: reactor)
      rig.pipeline.wake(.notify, on: reactor)
      try await rig.channel.received(1, on: reactor)
      try await rig.await(
        "Ben question_answered sent, Cleo question_answered held user_viewing", of: Self.decisions, on: reactor)
      let body = String(decoding: rig.channel.sent[0].request.body, as: UTF8.self)
      #expect(body.contains(#""title":"Ann answered","body":"Because.""#), "\(body)")
      #expect(body.contains(#""surface_kind":"question","surface_id":"\#(question.text)""#), "\(body)")
    }
  }
}
