import FoundationEssentials
import Postgres
import PushStore
import Reactors
import TestReactors
import Testing

@testable import PushPipeline

@Suite("A pipeline that lets its database sleep", .serialized)
struct SleepingPipelineTests {
  @Test("asks nothing while it sleeps, and a wake-up finds what was committed before in one look")
  func sleeps() async throws {
    try await Self.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.start(on: reactor)
      try await rig.until("asleep", on: reactor) { rig.pipeline.isAsleep }
      let missed = try await chat.post(on: reactor)[0]
      let before = rig.pool.counters.roundTrips
      // Awake it would have looked two or three times.
      await reactor.sleep(for: .milliseconds(300))
      #expect(rig.pool.counters.roundTrips == before && rig.pipeline.isAsleep)
      #expect(rig.pipeline.claimFault(now: Reactor.now + 3600_000_000_000) == nil)
      let told = try await chat.post(waking: .webhook, on: reactor)
      for id in [missed, told] { #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent]) }
      let looks =
        "select count(distinct history -> 0 ->> 'woken_us') from public.push_log where woken_by = 'webhook'"
      let found = try await rig.value(looks, as: Int64.self, on: reactor)
      #expect(found == 1)
    }
  }

  @Test("finds a message whose webhook was lost when the longest sleep is over")
  func longest() async throws {
    try await Self.run(longest: .milliseconds(400)) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.start(on: reactor)
      try await rig.until("asleep", on: reactor) { rig.pipeline.isAsleep }
      let id = try await chat.post(on: reactor)[0]
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      #expect(try await rig.value("select woken_by from public.push_log", as: String.self, on: reactor) == "poll")
    }
  }

  @Test("looks at a hold that another process has left when it is due, asleep or not")
  func due() async throws {
    try await Self.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let id = try await chat.post(on: reactor)[0]
      // Another process decides to hold it.
      try await rig.execute(
        """
        with decided as (delete from tacet.inbox returning *)
        insert into tacet.deliveries (
          subject_id, user_id, kind, conversation_id, due_at, enqueued_at, attempts, state, accepted_devices)
        select d.subject_id, '\(chat.recipients[0])', d.kind, d.conversation_id, now() + interval '8 s', d.enqueued_at,
          1, 'held', '{}'
        from decided d
        """, on: reactor)
      rig.start(on: reactor)
      try await rig.until("asleep", on: reactor) { rig.pipeline.isAsleep }
      #expect(try await rig.hasWork(on: reactor))
      _ = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }
      #expect(try await rig.value("select woken_by from public.push_log", as: String.self, on: reactor) == "due")
    }
  }

  @Test("does not sleep while pushes wait for a route that is shut")
  func shut() async throws {
    try await Self.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let isBack = Flag()
      rig.channel.answer = { _, _ in isBack.isSet ? .accepted : .unreachable }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: id, on: reactor)
      await reactor.sleep(for: .milliseconds(300))
      #expect(!rig.pipeline.isAsleep)
      isBack.isSet = true
      #expect(try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }.count == 1)
      try await rig.until("asleep", on: reactor) { rig.pipeline.isAsleep }
    }
  }

  /// Quick steps, so that it sleeps soon.
  private static func run(
    longest: Duration = DatabaseSleep.longestMax,
    _ body: @escaping @Sendable (PipelineRig, isolated Reactor) async throws -> Void
  ) async throws {
    let configure: @Sendable (inout PipelineConfiguration) -> Void = {
      $0.sleep = DatabaseSleep(after: .milliseconds(50), longest: longest)
      $0.schedule.longest = .milliseconds(100)
      $0.lanes.breaker = .quick
      $0.retry.base = .milliseconds(1)
    }
    try await PipelineRig.run(configure: configure, body)
  }
}
