import Channels
import FoundationEssentials
import Logging
import Postgres
import PrometheusMetrics
import PushRules
import PushStore
import Reactors
import TestIDs
import TestLogs
import TestPostgres
import TestReactors

@testable import PushPipeline

/// A pipeline between a migrated database and a scripted channel, all on one reactor.
final class PipelineRig {
  let database: PostgresConfiguration
  let pool: PostgresPool
  /// The sessions of the tests' own SQL. Those of `pool` may all wait for a lock that a test holds.
  private let host: PostgresPool
  let store: PushDatabase
  let channel = ScriptedChannel()
  let apns: APNSDeliverer
  let metrics = PrometheusRegistry()
  let pipeline: DeliveryPipeline
  private var statements = 0
  private var isStarted = false

  /// Runs a test's body with a rig, then drains and closes it.
  /// - Parameter server: where the database is made; nil for the one that tests share.
  static func run(
    window: Duration = .seconds(60), on server: TestPostgres? = nil, apps: Set<BundleIdentifier> = [],
    with others: @escaping @Sendable (isolated Reactor) -> [any PushDeliverer] = { _ in [] }, logger: Logger = .quiet,
    configure: @escaping @Sendable (inout PipelineConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (PipelineRig, isolated Reactor) async throws -> Void
  ) async throws {
    let shared = try await TestPostgres.shared
    let conninfo = try await (server ?? shared).makeMigratedDatabase()
    try await onReactor { reactor in
      let rig = try await PipelineRig(
        conninfo, window: window, apps: apps, others(reactor), logger: logger, configure: configure, on: reactor)
      try await body(rig, reactor)
      rig.channel.release(on: reactor)
      try await rig.stop(on: reactor)
      await rig.host.close(on: reactor)
      await rig.pool.close(on: reactor)
    }
  }

  private init(
    _ conninfo: String, window: Duration, apps: Set<BundleIdentifier>, _ others: [any PushDeliverer], logger: Logger,
    configure: (inout PipelineConfiguration) -> Void, on reactor: isolated Reactor
  ) async throws {
    var database = PostgresConfiguration(conninfo: conninfo)
    database.chosenTypes = IDTypes.tested.postgresTypes
    database.commitsAsynchronously = true
    database.settings = PushDatabase.serviceSettings
    // Far above what a machine needs that runs many tests at once.
    database.connectLimit = .seconds(20)
    database.statementLimit = .seconds(60)
    database.answerLimit = .seconds(60)
    self.database = database
    pool = PostgresPool(database, size: 3, acquireLimit: .seconds(20), logger: .quiet)
    pool.start(on: reactor)
    host = PostgresPool(database, size: 2, acquireLimit: .seconds(20), opensOnDemand: true, logger: .quiet)
    store = PushDatabase(pool: pool)
    var configuration = PipelineConfiguration(policy: SuppressionPolicy(window: window))
    configuration.retry.base = .milliseconds(20)
    configuration.lanes.suspicion.confirmation = .milliseconds(20)
    configure(&configuration)
    var places = APNSPlaces(defaultRoute: PushFixtures.route)
    for app in apps { places.apps[app] = .production }
    apns = APNSDeliverer(channel, places: places)
    pipeline = DeliveryPipeline(
      store: store, deliverers: [apns] + others, configuration: configuration, metrics: PipelineMetrics(metrics),
      logger: logger)
    pool.observer = pipeline
  }

  /// Configures other apps while the pipeline works.
  func update(
    apps: [BundleIdentifier: APNSEnvironment], defaultRoute: PushRoute, renewed: Set<BundleIdentifier> = [],
    on reactor: isolated Reactor
  ) {
    apns.update(APNSPlaces(defaultRoute: defaultRoute, apps: apps))
    pipeline.followRoutes(renewed: apns.routes(of: renewed), on: reactor)
  }

  /// How many recipients were recorded with this decision.
  func outcomes(_ decision: OutcomeDecision) -> Int {
    let families = metrics.collect().filter { $0.name == "tacet_outcomes_total" }
    return families.flatMap(\.samples).filter { $0.labels["decision"] == decision.rawValue }.reduce(0) { sum, sample in
      if case .integer(let count) = sample.value { sum + Int(count) } else { sum }
    }
  }

  /// Makes the pipeline work, until the rig is done.
  func start(on reactor: isolated Reactor) {
    isStarted = true
    reactor.start { await self.pipeline.run(on: reactor) }
  }

  private func stop(on reactor: isolated Reactor) async throws {
    guard isStarted else { return }
    guard await pipeline.drain(within: .seconds(10), on: reactor) else { throw TestFailure("not drained") }
  }

  /// Runs SQL that returns nothing of interest.
  func execute(_ sql: String, on reactor: isolated Reactor) async throws {
    _ = try await host.withConnection(on: reactor) {
      try await $0.simple(IDTypes.tested(sql), on: reactor)
    }
  }

  /// The only value of a query.
  func value<Value: PostgresDecodable>(
    _ sql: String, as type: Value.Type = Value.self, on reactor: isolated Reactor
  ) async throws -> Value {
    statements += 1
    let statement = PostgresStatement("rig_\(statements)", IDTypes.tested(sql))
    return try await host.query(statement, on: reactor).one().decode(0, as: Value.self)
  }

  /// Waits until the ledger says about a message what the test wants to see.
  func outcomes(
    of message: HostID, on reactor: isolated Reactor, until isDone: ([RecordedOutcome]) -> Bool = { _ in true }
  ) async throws -> [RecordedOutcome] {
    var last: EventStatus?
    for _ in 0..<1000 {
      let status = try await store.status(of: .message(message), on: reactor)
      if case .decided(let outcomes) = status, isDone(outcomes) { return outcomes }
      last = status
      await pipeline.waitForRecord(of: .message(message), .milliseconds(10), on: reactor)
    }
    throw TestFailure("still \(String(describing: last))")
  }

  /// Whether any work is left, in the inbox or in the queue. What will clear screens in ten seconds is none.
  func hasWork(on reactor: isolated Reactor) async throws -> Bool {
    let work = """
      select exists (select from tacet.inbox where kind <> 'read_sync' or available_at < now() + interval '2 s')
        or exists (select from tacet.deliveries)
      """
    return try await value(work, on: reactor)
  }

  /// Waits until no work is left, in the inbox or in the queue.
  func nothingLeft(on reactor: isolated Reactor) async throws {
    for _ in 0..<1000 {
      guard try await hasWork(on: reactor) else { return }
      await reactor.sleep(for: .milliseconds(10))
    }
    let rows = """
      select coalesce(string_agg(w::text, E'\\n'), '') from (
        select 'inbox', available_at - now(), attempts, rescues, is_claimed, error from tacet.inbox
        union all
        select state, due_at - now(), attempts, rescues, is_claimed, error from tacet.deliveries
      ) w
      """
    throw TestFailure("work is left:\n" + (try await value(rows, on: reactor)))
  }
}

extension Logger {
  /// Says nothing to the test.
  static var quiet: Logger { RunLogs.logger }
}

/// The poll is so far away that whatever is found was announced.
let withoutPolls: @Sendable (inout PipelineConfiguration) -> Void = {
  $0.schedule.shortest = .seconds(600)
  $0.schedule.longest = .seconds(600)
}
