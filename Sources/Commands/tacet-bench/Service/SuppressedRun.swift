import FoundationEssentials
import Postgres
import Reactors

/// Scenario `suppressed`: all recipients are looking, so that every message is decided and held, and none is sent.
struct SuppressedRun {
  private static let steadyPerSecond = 1000.0
  private static let burst = 10_000

  /// Longer than any run, so that no hold ends during it.
  private static let settings = ["SUPPRESSION_WINDOW_SECONDS": "3600"]

  let bench: ServiceBench
  let subject: SubjectBench

  func figures(on reactor: isolated Reactor) async throws -> [String: Double] {
    let result: Result<[String: Double], any Error>
    do {
      try await subject.control.query(Self.look, on: reactor)
      result = .success(
        try await bench.withService(of: subject, settings: Self.settings, on: reactor) { service in
          try await LoadRun.with(bench, subject, service, on: reactor) { try await measure($0, on: reactor) }
        })
    } catch {
      result = .failure(error)
    }
    // Holds first, because the end of presence would end them.
    try await subject.dropHolds(on: reactor)
    try await HostScene.forgetPresence(subject.control, on: reactor)
    return try result.get()
  }

  private func measure(_ run: LoadRun, on reactor: isolated Reactor) async throws -> [String: Double] {
    try await run.insertSteadily(perSecond: Self.steadyPerSecond, seconds: bench.seconds, on: reactor)
    try await awaitDecisions(on: reactor)
    let first = run.writer.messages.count
    let before = ServiceUsage(of: run.service.child.id, postmaster: subject.postmaster)
    let start = Reactor.now
    try await run.burst(Self.burst, on: reactor)
    try await awaitDecisions(on: reactor)
    let seconds = Double(Reactor.now - start) / 1e9
    let after = ServiceUsage(of: run.service.child.id, postmaster: subject.postmaster)
    let decisions = try await decisions(of: run.writer.messages[first...], on: reactor)
    return after.figures(since: before, per: "decision", count: decisions)
      .merging(run.service.memoryFigures) { $1 }
      .merging(["decisions_per_second": Double(decisions) / seconds]) { $1 }
  }

  /// Waits for an empty inbox, which takes a second or two.
  private func awaitDecisions(on reactor: isolated Reactor) async throws {
    let deadline = Reactor.now + ServiceBench.acceptanceLimit.clampedNanoseconds
    while try await subject.control.query(Self.hasUndecided, on: reactor).one().decode("has", as: Bool.self) {
      guard Reactor.now < deadline else { throw BenchError("not all messages were decided") }
      await reactor.sleep(for: .milliseconds(5))
    }
  }

  /// - Throws: when a recipient has no decision, or a push was sent.
  private func decisions(of messages: ArraySlice<SentMessage>, on reactor: isolated Reactor) async throws -> Int {
    let expected = messages.reduce(0) { $0 + subject.conversations[$1.conversation].devices.count }
    let row = try await subject.control.query(Self.countDecisions, [messages.map(\.id)], on: reactor).one()
    let decisions = try row.decode("decisions", as: Int.self)
    let sent = await bench.sink.take().count
    guard decisions == expected, sent == 0 else {
      throw BenchError("\(decisions) suppressed of \(expected), and \(sent) pushes sent")
    }
    return decisions
  }

  private static let look = PostgresStatement(
    "bench_look",
    """
    update public.conversation_participants c set last_seen = clock_timestamp(), left_at = null
    from measure.conversations p
    where c.conversation_id = p.conversation_id
    """)

  private static let hasUndecided = PostgresStatement(
    "bench_has_undecided", "select exists (select from tacet.inbox) as has")

  /// By the view: a build before version 34 has the table there.
  private static let countDecisions = PostgresStatement(
    "bench_count_decisions",
    """
    select count(*) as decisions from public.push_log l
    where l.subject_id = any($1) and l.push_type = 'message' and l.decision in ('held', 'skipped')
    """, [.array(of: .uuid)])
}
