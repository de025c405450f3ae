import API
import Channels
import CoreMetrics
import Logging
import Postgres
import PushPipeline
import PushRules
import PushStore
import Reactors
import Settings

/// How the service's sessions are opened.
struct ServiceSessions: Sendable {
  /// Sessions of a pool. Commits wait for the disk one after the other on a session; four let claims, records and duties overlap.
  private static let poolSize = 4

  /// After how long without a look the sessions end of a database that may sleep. An awake pipeline looks once a second.
  private static let idleLimit = Duration.seconds(2)

  /// For operators' queries.
  let plain: PostgresConfiguration
  /// With the settings that the service's statements are written for.
  let configuration: PostgresConfiguration
  /// Nil when the service polls.
  let sleep: DatabaseSleep?

  init(_ settings: ServeSettings, of database: PostgresConfiguration) {
    var database = database
    sleep = settings.databaseSleep
    // If the database server crashes and forgets a claim or a record, the inbox row that the host's own commit made
    // durable is back as well, and the push is sent again under the same identifiers.
    database.commitsAsynchronously = true
    // The statements are written for it; where the database's default is stricter, replicas that claim side by side would
    // only make each other start again. Behind a pooler the default holds, and conflicts are run again.
    database.settings["default_transaction_isolation"] = "read committed"
    database.settings.merge(PushDatabase.sessionSettings) { $1 }
    database.sessionCheck = PushDatabase.ownDatabaseCheck
    if sleep != nil { database.connectLimit = DatabaseSleep.wakingLimit }
    plain = database
    database.settings.merge(PushDatabase.serviceSettings) { $1 }
    database.settings.merge(PushDatabase.badgeSettings(max: settings.badgeMax)) { $1 }
    configuration = database
  }

  /// Not started.
  func pool(logger: Logger) -> PostgresPool {
    PostgresPool(
      configuration, size: Self.poolSize, acquireLimit: sleep == nil ? .seconds(1) : DatabaseSleep.wakingLimit,
      idleLimit: sleep == nil ? nil : Self.idleLimit, logger: logger)
  }
}

/// The process's pipeline, with its sessions and its ways to the push services, and what else a process does once. On the first
/// reactor.
final class PipelineWorker {
  private let pool: PostgresPool
  private let apps: AppClients
  private let others: OtherDeliverers
  private let pipeline: DeliveryPipeline
  private let duties: ProcessDuties
  private let listening: ListenStatus
  private let contract: ContractStatus
  private let clients: ClientAccess?
  private var isLeaving = false

  /// Connects nothing yet.
  init(
    _ settings: ServeSettings, sessions: ServiceSessions, plan: APNSPlan, clients: ClientAccess?,
    metrics: any MetricsFactory, logger: Logger, on reactor: isolated Reactor
  ) {
    let (listening, contract) = (ListenStatus(unusedBecause: settings.database.reasonNotToListen), ContractStatus())
    if let detail = listening.detail, listening.isReady {
      logger.notice("not listening", metadata: ["detail": "\(detail)"])
    }
    (self.listening, self.contract, self.clients) = (listening, contract, clients)
    pool = sessions.pool(logger: logger)
    apps = AppClients(plan, shadow: settings.shadow, metrics: metrics, logger: logger)
    others = OtherDeliverers(settings.channels, on: reactor)
    var configuration = PipelineConfiguration(settings)
    configuration.sleep = sessions.sleep
    let pipeline = DeliveryPipeline(
      store: PushDatabase(pool: pool, badgeMax: settings.badgeMax), deliverers: [apps.deliverer] + others.all,
      configuration: configuration, metrics: PipelineMetrics(metrics), logger: logger)
    self.pipeline = pipeline
    // Until the keeper says what the process owns.
    pipeline.own(.none, until: 0, on: reactor)
    duties = ProcessDuties(
      settings, database: sessions.configuration, pool: pool, pipeline: pipeline, tokens: plan.sources,
      listening: listening, contract: contract, metrics: metrics, logger: logger, on: reactor)
  }

  func handle(on reactor: isolated Reactor) -> PipelineHandle { PipelineHandle(pipeline, on: reactor) }

  func start(on reactor: isolated Reactor) {
    pool.observer = pipeline
    pool.start(on: reactor)
    apps.warmUp(on: reactor)
    pipeline.observer = self
    duties.start(on: reactor)
    reactor.start { await self.pipeline.run(on: reactor) }
  }

  /// Follows a plan with other keys while pushes go on; returns when nothing new is signed with an old one.
  /// - Parameters:
  ///   - renewed: the apps with another key than before. limit: how long new connections may take.
  func follow(
    _ plan: APNSPlan, renewed: Set<BundleIdentifier>, within limit: Duration, on reactor: isolated Reactor
  ) async {
    await apps.follow(plan, within: limit, on: reactor)
    pipeline.followRoutes(renewed: apps.deliverer.routes(of: renewed), on: reactor)
    duties.renew(plan.sources)
  }

  /// The process will end: readiness says so from now on, and everything goes on.
  func leave(on reactor: isolated Reactor) { isLeaving = true }

  /// Finishes what was claimed and closes the connections.
  /// - Returns: whether everything was finished in time.
  func stop(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    duties.stop(on: reactor)
    let isDrained = await pipeline.drain(within: limit, on: reactor)
    pipeline.abandon()
    await duties.close(on: reactor)
    apps.close(on: reactor)
    others.close(on: reactor)
    await pool.close(on: reactor)
    return isDrained
  }

  /// What its sessions do.
  var load: SessionLoad { SessionLoad(of: pool) }

  func figures(on reactor: isolated Reactor) async -> PipelineFigures {
    let database = await duties.figures.read(on: reactor)
    return PipelineFigures(
      claimAge: pipeline.claimAge(now: Reactor.now),
      apnsConnectionsOpened: apps.connectionsOpened,
      apns: apps.figures,
      routes: apps.routes(of: pipeline),
      others: others.states(in: pipeline),
      database: database, isDatabaseAsleep: pipeline.sleep?.isAsleep, listening: listening.state,
      tokenAges: apps.tokenAges)
  }

  func routeConditions(on reactor: isolated Reactor) -> [RouteCondition] {
    apps.routes(of: pipeline).map(\.condition) + others.conditions(in: pipeline)
  }

  /// Shown to everybody who asks: without the server's message.
  private var databaseFault: String? {
    guard pool.isReady || pool.isResting else {
      return "no session is open" + (pool.failure.map { ": \($0.description)" } ?? " yet")
    }
    if pool.takesNoWrites(now: Reactor.now) { return PostgresError.takesNoWrites }
    return pipeline.claimFault(now: Reactor.now)
  }

  func readiness() -> [ReadinessCheck] {
    let databaseFault = databaseFault
    return [
      ReadinessCheck("database", isReady: databaseFault == nil, detail: databaseFault),
      ReadinessCheck("listen", isReady: listening.isReady, detail: listening.detail),
      contract.readiness,
    ] + apps.readiness(of: pipeline) + (clients?.readiness.map { [$0] } ?? [])
      + (isLeaving ? [ReadinessCheck("process", isReady: false, detail: "it is stopping")] : [])
  }
}

extension PipelineWorker: DeliveryPipelineObserver {
  func pipelineBusyChanged(_ isBusy: Bool, on reactor: isolated Reactor) {
    duties.setAwake(isBusy, on: reactor)
  }

  func pipelineOwnershipChanged(on reactor: isolated Reactor) { duties.lookForShards(on: reactor) }

  func pipelineAsksForNotifyCost(on reactor: isolated Reactor) {
    duties.measureNotifyCost(on: reactor)
  }
}
