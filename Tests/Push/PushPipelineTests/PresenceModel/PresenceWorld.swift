import FoundationEssentials
import Postgres
import PushRules
import Reactors
import TestIDs

@testable import PushPipeline

/// Many timelines side by side in one database, and the pipeline that serves them.
final class PresenceWorld {
  private let rig: PipelineRig
  private let clock: VirtualClock
  private let timelines: [PresenceTimeline]
  private let index: PresenceIndex
  private var pushesSeen = 0

  /// - Parameters:
  ///   - window: virtual microseconds, what the requirements ask for.
  ///   - sabotage: SQL that breaks the product before it starts.
  init(
    _ plans: [TimelinePlan], window: Int64, sabotage: String, in rig: PipelineRig, on reactor: isolated Reactor
  ) async throws {
    self.rig = rig
    timelines = plans.map { PresenceTimeline($0, window: window) }
    index = PresenceIndex(timelines)
    clock = try await VirtualClock(rig, on: reactor)
    try await rig.execute("begin;" + timelines.map(\.preparation).joined() + sabotage + ";commit", on: reactor)
  }

  /// Lives through the steps that begin at these times.
  func run(_ times: [Int64], on reactor: isolated Reactor) async throws -> PresenceReport {
    for (step, time) in times.enumerated() {
      try await clock.advance(to: time, on: reactor)
      try await look(on: reactor)
      for beat in 0..<TimelinePlan.beats { try await act(step: step, beat: beat, on: reactor) }
      try await look(on: reactor)
    }
    // Nothing is due any more; the rig can only stop what runs, and with it the timers of the last holds.
    rig.start(on: reactor)
    let end = try await clock.now(on: reactor)
    for (number, look) in try await observed(end...end, ledgerFrom: nil, on: reactor).enumerated() {
      timelines[number].judgeEnd(look)
    }
    return PresenceReport(timelines, at: times, troubles: try await troubles(on: reactor))
  }

  /// A transaction with one action of every timeline that has one.
  private func act(step: Int, beat: Int, on reactor: isolated Reactor) async throws {
    let actions = timelines.compactMap { timeline in
      timeline.action(step: step, beat: beat).map { (timeline, $0) }
    }
    guard !actions.isEmpty else { return }
    let time = try await rig.pool.withConnection(on: reactor) { [clock] connection in
      try await connection.simple("begin", on: reactor)
      let now: Int64 = try await connection.query(Self.transactionTime, on: reactor).one().decode(0)
      try await connection.simple(IDTypes.tested(actions.map { $0.sql(for: $1) }.joined()), on: reactor)
      try await connection.simple("commit", on: reactor)
      return clock.virtual(now)
    }
    for (timeline, action) in actions { timeline.apply(action, at: time) }
  }

  /// Has the pipeline look until nothing is due or under way, and has every timeline judge what it saw.
  ///
  /// The pipeline's own loop does not run: it would look between two actions, or while time is being moved.
  private func look(on reactor: isolated Reactor) async throws {
    let began = try await clock.now(on: reactor)
    try await rest(on: reactor)
    let span = began...(try await clock.now(on: reactor))
    for (number, look) in try await observed(span, ledgerFrom: began, on: reactor).enumerated() {
      timelines[number].judge(look)
    }
  }

  private func rest(on reactor: isolated Reactor) async throws {
    for _ in 0..<30_000 {
      if try await rig.pool.query(Self.underWay, on: reactor).one().decode(0, as: Int64.self) == 0 { return }
      await rig.pipeline.look(on: reactor)
    }
    throw TestFailure("the pipeline does not come to rest")
  }

  /// What was pushed since the last call, and what the ledger got since a time.
  private func observed(
    _ span: ClosedRange<Int64>, ledgerFrom: Int64?, on reactor: isolated Reactor
  ) async throws -> [ObservedLook] {
    var looks = timelines.map { _ in ObservedLook(span: span) }
    // What clears a deleted message shows nothing.
    for push in rig.channel.sent[pushesSeen...] where push.request.head.pushType == .alert {
      guard let place = index.place(of: push) else { throw TestFailure("a push to nobody: \(push)") }
      looks[place.timeline].pushed[place.pair, default: []].append(place.device)
    }
    pushesSeen = rig.channel.sent.count
    let since = ledgerFrom.map(clock.real) ?? 0
    for row in try await rig.pool.query(Self.ledger, [since], on: reactor) {
      guard let place = try index.place(of: row) else { throw TestFailure("a ledger row about nobody") }
      looks[place.timeline].ledger[place.pair] = LedgerLine(
        decision: try row.decode("decision"), reason: try row.decode("reason"))
    }
    return looks
  }

  private func troubles(on reactor: isolated Reactor) async throws -> [String] {
    try await rig.pool.query(Self.triggerFailures, on: reactor).map { try $0.decode(0) }
  }

  private static let transactionTime = PostgresStatement(
    "model_now", "select (extract(epoch from now()) * 1000000)::bigint")

  private static let underWay = PostgresStatement(
    "model_under_way",
    """
    select (select count(*) from tacet.inbox where kind = 'message') + (
      select count(*) from tacet.deliveries where kind = 'message' and (due_at <= now() or is_claimed))
    """)

  private static let ledger = PostgresStatement(
    "model_ledger",
    """
    select subject_id, user_id, decision, reason from tacet.push_log
    where push_type = 'message' and claimed_at >= timestamptz 'epoch' + $1 * interval '1 microsecond'
    """, [.int8])

  private static let triggerFailures = PostgresStatement(
    "model_failures", "select sqlstate || ' ' || message from tacet.trigger_failures limit 5")
}
