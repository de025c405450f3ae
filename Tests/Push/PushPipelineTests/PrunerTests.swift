import FoundationEssentials
import Postgres
import PrometheusMetrics
import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("The pruner")
struct PrunerTests {
  @Test("a round deletes what is too old from every table, batch after batch, and leaves the rest")
  func round() async throws {
    try await PipelineRig.run { rig, reactor in
      try await fill(rig, old: 2500, young: 10, on: reactor)
      let pruner = makePruner(rig)
      reactor.start { await pruner.run(on: reactor) }
      try await awaitRows(30, pruned: 7500, by: [pruner], in: rig, on: reactor)
      #expect(pruner.rowsPruned == 7500)
      pruner.stop(on: reactor)
    }
  }

  @Test("a round is followed by another")
  func again() async throws {
    try await PipelineRig.run { rig, reactor in
      var pace = Self.brisk
      pace.interval = .milliseconds(10)
      let pruner = makePruner(rig, pace: pace)
      reactor.start { await pruner.run(on: reactor) }
      for round in 1...3 {
        try await fill(rig, old: 1, young: 0, on: reactor)
        try await awaitRows(0, pruned: 3 * round, by: [pruner], in: rig, on: reactor)
      }
      #expect(pruner.rowsPruned == 9)
      pruner.stop(on: reactor)
    }
  }

  @Test("two pruners finish what there is together")
  func together() async throws {
    try await PipelineRig.run { rig, reactor in
      try await fill(rig, old: 5000, young: 0, on: reactor)
      let pruners = (0..<2).map { _ in makePruner(rig) }
      for pruner in pruners { reactor.start { await pruner.run(on: reactor) } }
      try await awaitRows(0, pruned: 15_000, by: pruners, in: rig, on: reactor)
      #expect(pruners.map(\.rowsPruned).reduce(0, +) == 15_000)
      for pruner in pruners { pruner.stop(on: reactor) }
    }
  }

  @Test("a table that refuses does not keep the others from being pruned")
  func refused() async throws {
    try await PipelineRig.run { rig, reactor in
      try await fill(rig, old: 10, young: 0, on: reactor)
      try await rig.execute(
        """
        create function public.refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
        create trigger refuse before delete on tacet.push_log execute function public.refuse()
        """, on: reactor)
      let pruner = makePruner(rig)
      reactor.start { await pruner.run(on: reactor) }
      try await awaitRows(10, in: rig, on: reactor)
      pruner.stop(on: reactor)
    }
  }

  @Test("one that was stopped begins no further batch, and its run returns")
  func stopped() async throws {
    try await PipelineRig.run { rig, reactor in
      try await fill(rig, old: 3000, young: 0, on: reactor)
      var pace = Self.brisk
      pace.pause = .seconds(600)
      let pruner = makePruner(rig, pace: pace)
      let returned = Signal()
      reactor.start {
        await pruner.run(on: reactor)
        returned.signal(on: reactor)
      }
      try await awaitRows(8000, in: rig, on: reactor)
      pruner.stop(on: reactor)
      #expect(await returned.wait(for: .seconds(30), on: reactor))
      #expect(pruner.rowsPruned == 1000)
    }
  }

  /// Begins at once, does not dawdle, and does not come back.
  private static let brisk: Pruner.Pace = {
    var pace = Pruner.Pace()
    pace.firstWaitMax = .zero
    pace.interval = .seconds(3600)
    pace.pause = .milliseconds(1)
    return pace
  }()

  /// Keeps rows for a day.
  private func makePruner(_ rig: PipelineRig, pace: Pruner.Pace = brisk) -> Pruner {
    Pruner(store: rig.store, retention: .seconds(86_400), pace: pace, logger: .quiet)
  }

  /// Rows of both ages in each of the three tables.
  private func fill(_ rig: PipelineRig, old: Int, young: Int, on reactor: isolated Reactor) async throws {
    for (count, age) in [(old, "2 days"), (young, "1 hour")] {
      try await rig.execute(
        """
        insert into tacet.push_log (enqueued_at, user_id, subject_id, push_type, decision)
        select now() - interval '\(age)', gen_random_uuid(), gen_random_uuid(), 'message', 'sent'
        from generate_series(1, \(count));
        insert into tacet.trigger_failures (failed_at, sqlstate, message)
        select now() - interval '\(age)', '55P03', 'test' from generate_series(1, \(count));
        insert into tacet.parked (parked_at, enqueued_at, subject_id, kind, attempts, reason)
        select now() - interval '\(age)', now(), gen_random_uuid(), 'message', 8, 'test'
        from generate_series(1, \(count))
        """, on: reactor)
    }
  }

  /// Waits until the three tables have this many rows together, and until pruners know that they have deleted so many: a commit is seen
  /// before its answer.
  private func awaitRows(
    _ count: Int64, pruned: Int = 0, by pruners: [Pruner] = [], in rig: PipelineRig, on reactor: isolated Reactor
  ) async throws {
    let query = """
      select (select count(*) from tacet.push_log) + (select count(*) from tacet.trigger_failures)
        + (select count(*) from tacet.parked)
      """
    for _ in 0..<3000 {
      let left = try await rig.value(query, as: Int64.self, on: reactor)
      if left == count, pruners.reduce(0, { $0 + $1.rowsPruned }) >= pruned { return }
      await reactor.sleep(for: .milliseconds(10))
    }
    throw TestFailure("the tables do not have \(count) rows")
  }
}

@Suite("The engagement analyst")
struct EngagementAnalystTests {
  private static let count = "select count(*) from tacet.engagement_analyses"

  /// Begins at once.
  private func makeAnalyst(_ rig: PipelineRig, waitMax: Duration = .seconds(3600)) -> EngagementAnalyst {
    var pace = EngagementAnalyst.Pace()
    pace.firstWaitMax = .zero
    pace.waitMax = waitMax
    pace.retryWait = .milliseconds(5)
    return EngagementAnalyst(store: rig.store, pace: pace, logger: .quiet)
  }

  private func awaitRows(_ rows: Int64, in rig: PipelineRig, on reactor: isolated Reactor) async throws {
    for _ in 0..<3000 {
      if try await rig.value(Self.count, as: Int64.self, on: reactor) == rows { return }
      await reactor.sleep(for: .milliseconds(10))
    }
    throw TestFailure("there are not \(rows) analyses")
  }

  @Test("two at once store one analysis, and the next when the newest is 72 hours old")
  func together() async throws {
    try await PipelineRig.run { rig, reactor in
      let analysts = (0..<2).map { _ in makeAnalyst(rig, waitMax: .milliseconds(5)) }
      for analyst in analysts { reactor.start { await analyst.run(on: reactor) } }
      try await awaitRows(1, in: rig, on: reactor)
      try await rig.execute(
        "update tacet.engagement_analyses set analysed_at = analysed_at - interval '72 hours'", on: reactor)
      try await awaitRows(2, in: rig, on: reactor)
      for analyst in analysts { analyst.stop(on: reactor) }
      #expect(try await rig.value(Self.count, as: Int64.self, on: reactor) == 2)
    }
  }

  @Test("one that fails is tried again")
  func failure() async throws {
    try await PipelineRig.run { rig, reactor in
      try await rig.execute("alter table tacet.activity rename to lost", on: reactor)
      let analyst = makeAnalyst(rig)
      reactor.start { await analyst.run(on: reactor) }
      for _ in 0..<5 { await reactor.sleep(for: .milliseconds(10)) }
      #expect(try await rig.value(Self.count, as: Int64.self, on: reactor) == 0)
      try await rig.execute("alter table tacet.lost rename to activity", on: reactor)
      try await awaitRows(1, in: rig, on: reactor)
      analyst.stop(on: reactor)
    }
  }

  @Test("one that was stopped returns, however long until the next is due")
  func stopped() async throws {
    try await PipelineRig.run { rig, reactor in
      let analyst = makeAnalyst(rig)
      let returned = Signal()
      reactor.start {
        await analyst.run(on: reactor)
        returned.signal(on: reactor)
      }
      try await awaitRows(1, in: rig, on: reactor)
      analyst.stop(on: reactor)
      #expect(await returned.wait(for: .seconds(30), on: reactor))
    }
  }
}

@Suite("Rescuer")
struct RescuerTests {
  @Test("of an import nothing is pushed or recorded, it is counted, and the message in between goes")
  func importsAreDiscarded() async throws {
    try await Chat.run { rig, chat, reactor in
      let old = """
        insert into public.messages (conversation_id, from_id, text, created_at)
        select '\(chat.id)', '\(chat.sender)', 'old', now() - interval '2 years' from generate_series(1, 2000)
        """
      try await rig.execute(old, on: reactor)
      let id = try await chat.post(on: reactor)[0]
      try await rig.execute(old, on: reactor)
      rig.start(on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      await Rescuer(for: rig.pipeline).look(on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 1)
      #expect(try await rig.value("select count(*) from tacet.push_log", as: Int64.self, on: reactor) == 1)
      let discarded = rig.metrics.collect().first { $0.name == "tacet_messages_discarded_total" }
      #expect(discarded?.samples.map(\.value) == [.integer(4000)])
    }
  }

  @Test("a release that a host could not make ends the hold, by notification and without", arguments: [true, false])
  func queuedReleases(_ isNotified: Bool) async throws {
    try await Chat.run(configure: withoutPolls) { rig, chat, reactor in
      try await chat.see(ago: "1 s", on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      try await rig.execute(
        """
        insert into tacet.releases (subject_id, user_id, cause) values ('\(id)', '\(chat.recipients[0])', 'left');
        update public.conversation_participants set tacet_left_at = clock_timestamp()
        """, on: reactor)
      if isNotified {
        rig.pipeline.releasesQueued(on: reactor)
      } else {
        await Rescuer(for: rig.pipeline).look(on: reactor)
      }
      #expect(try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }.count == 1)
      #expect(try await rig.value("select count(*) from tacet.releases", as: Int64.self, on: reactor) == 0)
    }
  }
}
