import Channels
import Postgres
import PushRules
import PushStore
import Reactors
import TestIDs
import TestRandomness

@testable import PushPipeline

/// Many timelines in one database, and the two pipelines that serve them.
final class FoldWorld {
  private let rig: PipelineRig
  private let other: DeliveryPipeline
  private let clock: VirtualClock
  private let timelines: [FoldTimeline]
  private let byToken: [String: Int]
  private(set) var oracles: [FoldOracle]
  private var generator: SeededGenerator
  private var sentAt: [Int: (time: Int64, advances: Int)] = [:]
  /// How often time was moved.
  private var advances = 0
  /// Virtual minus monotonic microseconds.
  private var offset: Int64 = 0
  private var isCalm = false
  private var logs: [[String]]

  init(_ timelines: [FoldTimeline], window: Int64, seed: UInt64, in rig: PipelineRig, on reactor: isolated Reactor)
    async throws
  {
    self.rig = rig
    self.timelines = timelines
    byToken = Dictionary(uniqueKeysWithValues: timelines.enumerated().map { ($1.token, $0) })
    oracles = timelines.map { _ in FoldOracle(window: window) }
    logs = timelines.map { _ in [] }
    generator = SeededGenerator(seed: seed)
    clock = try await VirtualClock(rig, on: reactor)
    other = DeliveryPipeline(
      store: rig.store, deliverers: [rig.apns], configuration: rig.pipeline.configuration, logger: .quiet)
    try await rig.execute("begin;" + timelines.map(\.preparation).joined() + "commit", on: reactor)
    rig.channel.delays = { [unowned self] in handedOver($0) }
    rig.channel.answer = { [unowned self] push, _ in answer(push) }
  }

  private var now: Int64 { Int64(Reactor.now / 1000) + offset }

  /// Lives through so many steps, then lets everything end.
  func run(steps: Int, on reactor: isolated Reactor) async throws {
    for step in 0..<steps {
      try await advance(by: Int64.random(in: 100_000...9_000_000, using: &generator), on: reactor)
      for beat in 0..<FoldTimeline.beats {
        try await act(step: step, beat: beat, on: reactor)
        if Bool.random(using: &generator) { try await look(on: reactor) }
      }
      try await look(on: reactor)
      rig.channel.release(rig.channel.heldCount * 2 / 3, on: reactor)
      // What they release is recorded before time is moved.
      try await look(on: reactor)
    }
    isCalm = true
    // Seconds let a burst's last update go; more than the window ends what waits for that.
    for round in 0..<30 {
      rig.channel.release(rig.channel.heldCount, on: reactor)
      try await look(on: reactor)
      if round > 5, try await leftovers(on: reactor) == 0 { break }
      try await advance(by: round % 2 == 0 ? 21_000_000 : 2_000_000, on: reactor)
    }
    try await look(on: reactor)
    for place in oracles.indices { oracles[place].judgeEnd() }
  }

  /// Work and undecided messages that are left, and messages without a final row.
  func leftovers(on reactor: isolated Reactor) async throws -> Int64 {
    try await rig.value(
      """
      select (select count(*) from tacet.inbox) + (select count(*) from tacet.deliveries)
        + (select count(*) from public.messages m where not exists (
          select from tacet.push_log l where l.subject_id = m.id and l.decision <> 'held'))
      """, on: reactor)
  }

  /// What the ledger says of a timeline's messages, a line each.
  func story(of place: Int, on reactor: isolated Reactor) async throws -> String {
    var lines: [String] = []
    for (number, id) in timelines[place].messages.enumerated().prefix(oracles[place].messages) {
      let history: String = try await rig.value(
        """
        select coalesce(string_agg((select string_agg(concat_ws(' ', h ->> 'claim', h ->> 'decision', h ->> 'reason',
          h ->> 'remaining', h ->> 'fold'), ' -> ') from jsonb_array_elements(l.history) h), ''), 'nothing')
        from tacet.push_log l where l.subject_id = '\(id)'
        """, on: reactor)
      lines.append("  \(number) \(id.shortMark): \(history)")
    }
    return (lines + logs[place]).joined(separator: "\n")
  }

  private func advance(by time: Int64, on reactor: isolated Reactor) async throws {
    try await clock.advance(to: try await clock.now(on: reactor) + time, on: reactor)
    advances += 1
    offset = try await clock.now(on: reactor) - Int64(Reactor.now / 1000)
  }

  private func act(step: Int, beat: Int, on reactor: isolated Reactor) async throws {
    var sql = ""
    for (place, timeline) in timelines.enumerated() {
      guard let action = timeline.action(step: step, beat: beat) else { continue }
      sql += timeline.sql(for: action)
      oracles[place].apply(action)
      logs[place].append("  \(now / 1000) ms: \(action)")
    }
    if !sql.isEmpty { try await rig.execute("begin;" + sql + "commit", on: reactor) }
  }

  /// Both pipelines look until nothing is due, and nothing is under way but what the channel holds.
  private func look(on reactor: isolated Reactor) async throws {
    for _ in 0..<30_000 {
      let row = try await rig.pool.query(Self.underWay, on: reactor).one()
      let (work, waiting): (Int64, Int64) = (try row.decode(0), try row.decode(1))
      // What waits for a route waits as long as a slow push probes it.
      if work <= rig.channel.heldCount, waiting == 0 || rig.channel.heldCount > 0 { return }
      let done = Signal()
      reactor.start {
        await self.other.look(on: reactor)
        done.signal(on: reactor)
      }
      await rig.pipeline.look(on: reactor)
      guard await done.wait(for: .seconds(30), on: reactor) else { throw TestFailure("a look does not end") }
    }
    throw TestFailure("the pipelines do not come to rest")
  }

  /// Whether the push is slow.
  private func handedOver(_ sent: ScriptedChannel.Sent) -> Bool {
    guard let push = FoldPush(sent), let place = byToken[push.token] else { return false }
    sentAt[key(sent)] = (now, advances)
    oracles[place].sent(push, at: now)
    note(push, "handed over", at: place)
    return !isCalm && Int.random(in: 0..<10, using: &generator) == 0
  }

  private func answer(_ sent: ScriptedChannel.Sent) -> PushAttempt {
    guard let push = FoldPush(sent), let place = byToken[push.token] else { return .badKey }
    let sentAt = self.sentAt[key(sent)] ?? (now, advances)
    // Queued again, the message would have the date of its claim, from before time was moved, and seem newer than it is.
    if !isCalm, sentAt.advances == advances, Int.random(in: 0..<10, using: &generator) == 0 {
      note(push, "refused", at: place)
      return Bool.random(using: &generator) ? .busy : .limited
    }
    note(push, "accepted", at: place)
    oracles[place].accepted(push, sentAt: sentAt.time)
    return .accepted
  }

  private func note(_ push: FoldPush, _ what: String, at place: Int) {
    logs[place].append("  \(now / 1000) ms: \(push.message) \(what), \(push.sounds ? "with sound" : "+\(push.more)")")
  }

  private func key(_ sent: ScriptedChannel.Sent) -> Int { sent.identifier.hashValue }

  private static let underWay = PostgresStatement(
    "fold_under_way",
    """
    select
      (select count(*) from tacet.inbox) + (
        select count(*) from tacet.deliveries where due_at <= now() and state <> 'waiting' or is_claimed),
      (select count(*) from tacet.deliveries where due_at <= now() and state = 'waiting' and not is_claimed)
    """)
}
