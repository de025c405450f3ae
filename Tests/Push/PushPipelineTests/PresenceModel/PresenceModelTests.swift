import Channels
import Foundation
import FoundationEssentials
import Postgres
import PushRules
import Reactors
import Synchronization
import TestIDs
import TestRandomness
import Testing

@testable import PushPipeline

@Suite("The presence model", .serialized)
struct PresenceModelTests {
  @Test(
    "random timelines: nobody is pushed while looking, nobody is left out, each push comes once, in time, on the books")
  func timelines() async throws {
    // Each of the mutants below is found among sixty.
    let model = PresenceModel.fromEnvironment(timelines: 500)
    let report = try await model.run()
    print("presence model: seed \(model.seed), \(report.tally)")
    for story in report.stories { print("seed \(model.seed):\n\(try await model.shrunk(story).text)\n") }
    #expect(report.tally.violations == [:])
    #expect(report.troubles == [])
    #expect(report.tally.pushes > 0 && report.tally.holds > 0)
  }

  @Test("a broken product breaks the property that it should", arguments: PresenceMutant.all)
  func mutants(_ mutant: PresenceMutant) async throws {
    let report = try await mutant.apply(to: PresenceModel(seed: 1, timelines: 60, steps: 14)).run()
    print("presence model: \(mutant): \(report.tally)")
    #expect(report.tally.violations[mutant.property, default: 0] > 0)
  }

  @Test("a timeline that broke a property is shown with the actions that are needed for it")
  func shrinking() async throws {
    let model = PresenceMutant.shortWindow.apply(to: PresenceModel(seed: 1, timelines: 60, steps: 14))
    let story = try #require(try await model.run().stories.first)
    let short = try await model.shrunk(story)
    #expect(short.property == 1)
    #expect((2...3).contains(short.plan.actions.count))
    #expect(short.text.contains("last_seen = now()") || short.text.contains("reads"))
    #expect(short.text.contains("VIOLATION"))
  }
}

/// Runs random timelines against the product and the oracle.
struct PresenceModel: Sendable {
  /// Timelines that share a database and the times of their steps.
  private static let worldSize = 250

  /// Real time that a step may take before window ends can fall into it.
  private static let guardTime: Int64 = 2_000_000

  let seed: UInt64
  var timelines: Int
  var steps = 24
  /// What the requirements ask for.
  var windowSeconds: Int64 = 60
  /// What the product is told.
  var productWindow = Duration.seconds(60)
  /// SQL that breaks the product.
  var sabotage = ""

  /// As the environment asks: `PRESENCE_SEED`, or a random one, and `PRESENCE_TIMELINES`.
  static func fromEnvironment(timelines: Int) -> PresenceModel {
    let environment = ProcessInfo.processInfo.environment
    return PresenceModel(
      seed: environment["PRESENCE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000),
      timelines: environment["PRESENCE_TIMELINES"].flatMap { Int($0) } ?? timelines)
  }

  func run() async throws -> PresenceReport {
    var report = PresenceReport()
    for (world, first) in stride(from: 0, to: timelines, by: Self.worldSize).enumerated() {
      let count = min(Self.worldSize, timelines - first)
      let plans = (first..<(first + count)).map { number in
        var generator = SeededGenerator(seed: seed, part: number)
        return TimelinePlan.random(steps: steps, using: &generator)
      }
      report += try await run(plans, at: times(ofWorld: world))
    }
    return report
  }

  /// A story of the same gravity with as few actions as can be left.
  func shrunk(_ story: PresenceStory) async throws -> PresenceStory {
    var smallest = story
    while true {
      let report = try await run(smallest.plan.shorter, at: story.times)
      guard let next = report.stories.first, next.property <= story.property else { return smallest }
      smallest = next
    }
  }

  /// The times of the steps; those of different worlds differ.
  private func times(ofWorld number: Int) -> [Int64] {
    var generator = SeededGenerator(seed: ~seed, part: number)
    return TimelinePlan.times(
      steps: steps, window: windowSeconds * 1_000_000, guardTime: Self.guardTime, using: &generator)
  }

  private func run(_ plans: [TimelinePlan], at times: [Int64]) async throws -> PresenceReport {
    let result = ReportBox()
    try await PipelineRig.run(window: productWindow, configure: Self.configure) { [self] rig, reactor in
      let world = try await PresenceWorld(
        plans, window: windowSeconds * 1_000_000, sabotage: sabotage, in: rig, on: reactor)
      let report = try await world.run(times, on: reactor)
      result.value.withLock { $0 = report }
    }
    return result.value.withLock(\.self)
  }

  /// Few round trips, no lease that ends on a slow machine, and no review that writes while time is being moved: the
  /// model has no two transactions at the same time.
  private static let configure: @Sendable (inout PipelineConfiguration) -> Void = {
    $0.lease = .seconds(3600)
    $0.holdReviewWait = .seconds(3600)
    $0.eventsPerClaimMax = 1000
    $0.deliveriesPerClaimMax = 1000
  }
}

/// Carries a report out of the rig's closure.
private final class ReportBox: Sendable {
  let value = Mutex(PresenceReport())
}

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
    for push in rig.channel.sent[pushesSeen...] where push.request.pushType == .alert {
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

/// Time that a test lets pass in a database: all its timestamps are moved back instead.
///
/// Virtual microseconds since the clock was made. Between two shifts it runs with the database's own clock.
final class VirtualClock {
  private let rig: PipelineRig
  private let start: Int64
  private let shifting: String
  private var passed: Int64 = 0

  init(_ rig: PipelineRig, on reactor: isolated Reactor) async throws {
    self.rig = rig
    start = try await rig.value(Self.now, on: reactor)
    shifting = try await rig.value(Self.shift, on: reactor)
  }

  /// The database's time.
  func now(on reactor: isolated Reactor) async throws -> Int64 {
    virtual(try await rig.pool.query(Self.clock, on: reactor).one().decode(0))
  }

  /// What a database's timestamp, in microseconds since 1970, is here.
  func virtual(_ microseconds: Int64) -> Int64 { microseconds - start + passed }

  /// The other way round.
  func real(_ virtual: Int64) -> Int64 { virtual - passed + start }

  /// Lets the time pass until then; does nothing when it is later already. Nobody else may be writing.
  ///
  /// Triggers rest meanwhile: nothing happens to the rows but that they get older.
  func advance(to moment: Int64, on reactor: isolated Reactor) async throws {
    let pause = moment - (try await now(on: reactor))
    guard pause > 0 else { return }
    let updates = shifting.split(separator: "$").joined(separator: "\(pause)")
    try await rig.execute(
      "begin; set local session_replication_role = replica; \(updates) commit", on: reactor)
    passed += pause
  }

  private static let now = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint"

  private static let clock = PostgresStatement("virtual_clock", now)

  /// The updates that move every timestamp of every table; `$` stands for the microseconds. A partitioned table is
  /// moved as a whole, so that its rows may change their partition.
  private static let shift = """
    select string_agg(format('update %s set %s;', t.name, t.changes), ' ')
    from (
      select c.oid::regclass as name,
        string_agg(format('%I = %I - interval ''$ microseconds''', a.attname, a.attname), ', ') as changes
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace in ('public'::regnamespace, 'tacet'::regnamespace)
        and c.relkind in ('r', 'p') and not c.relispartition
        and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.atttypid = 'timestamptz'::regtype
      group by c.oid
    ) t
    """
}
