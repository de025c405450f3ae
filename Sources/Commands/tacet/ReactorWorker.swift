import API
import Campaigns
import Channels
import CoreMetrics
import HTTPTransfers
import Logging
import Postgres
import PushPipeline
import PushRules
import PushStore
import Reactors
import Settings

/// Everything one reactor owns: its database sessions, its APNs connections and its pipeline.
final class ReactorWorker {
  /// Sessions of each reactor for its pipeline. Commits wait for the disk one after the other on a session; four let claims,
  /// records and duties overlap.
  private static let poolSize = 4

  /// Sessions of each reactor for what apps, webhooks and other servers ask: one may wait for a lock while the other goes on.
  /// The pipeline does not wait behind either.
  private static let callerPoolSize = 2

  /// How long callers wait for a session of a database that may sleep. Neon wakes up in about a second; callers of one that
  /// takes longer are told to come again.
  private static let callerLimit = Duration.seconds(5)

  /// After how long without a look the pipeline's sessions end. An awake pipeline looks once a second.
  private static let idleLimit = Duration.seconds(2)

  /// The same for the session that counts all users, which is seldom asked to.
  private static let countIdleLimit = Duration.seconds(5)

  private let pool: PostgresPool
  private let badgeMax: Int
  private let callerPool: PostgresPool
  private let operatorPool: PostgresPool
  private let countPool: PostgresPool
  private let apps: ReactorApps
  private let others: OtherDeliverers
  private let pipeline: DeliveryPipeline
  private let listening: ListenStatus
  private let contract: ContractStatus
  private let sleep: DatabaseSleep?
  private let clients: ClientAccess?
  private let isReadSyncEnabled: Bool
  private let isPushTriggerEnabled: Bool
  private let campaignMetrics: CampaignMetrics
  private let logger: Logger
  /// On the first reactor.
  private let duties: ProcessDuties?
  /// On the last reactor: where there are several, messages of the first one do not wait for a rendering.
  private let campaigns: CampaignDuty?
  private var neighbours: [ReactorBound<ReactorWorker>] = []
  private var first: ReactorBound<ReactorWorker>?
  private var last: ReactorBound<ReactorWorker>?
  private var isLeaving = false

  /// Connects nothing yet.
  /// - Parameters:
  ///   - database: shared by the reactors, so that each knows which hosts the others have found silent.
  ///   - sleep: shared by the reactors; nil when the service polls.
  init(
    _ settings: ServeSettings, number: Int, of reactorCount: Int, database: PostgresConfiguration, plan: APNSPlan,
    listening: ListenStatus, contract: ContractStatus, sleep: DatabaseSleep?,
    clients: ClientAccess?,
    metrics: any MetricsFactory, logger: Logger, on reactor: isolated Reactor
  ) {
    var database = database
    // If the database server crashes and forgets a claim or a record, the inbox row that the host's own commit made
    // durable is back as well, and the push is sent again under the same identifiers.
    database.commitsAsynchronously = true
    // The statements are written for it; where the database's default is stricter, replicas that claim side by side would
    // only make each other start again. Behind a pooler the default holds, and conflicts are run again.
    database.settings["default_transaction_isolation"] = "read committed"
    database.settings.merge(PushDatabase.sessionSettings) { $1 }
    database.sessionCheck = PushDatabase.ownDatabaseCheck
    if sleep != nil { database.connectLimit = DatabaseSleep.wakingLimit }
    self.listening = listening
    self.contract = contract
    self.sleep = sleep
    self.clients = clients
    isReadSyncEnabled = settings.isReadSyncEnabled
    isPushTriggerEnabled = settings.campaigns.isEnabled
    campaignMetrics = CampaignMetrics(metrics)
    self.logger = logger
    operatorPool = PushDatabase.operatorPool(database, idleLimit: sleep?.quiet, logger: logger)
    countPool = PushDatabase.operatorPool(
      database, limit: PushDatabase.countLimit, idleLimit: Self.countIdleLimit, logger: logger)
    database.settings.merge(PushDatabase.serviceSettings) { $1 }
    database.settings.merge(PushDatabase.badgeSettings(max: settings.badgeMax)) { $1 }
    pool = PostgresPool(
      database, size: Self.poolSize, acquireLimit: sleep == nil ? .seconds(1) : DatabaseSleep.wakingLimit,
      idleLimit: sleep == nil ? nil : Self.idleLimit, logger: logger)
    callerPool = PostgresPool(
      database, size: Self.callerPoolSize, acquireLimit: sleep == nil ? .seconds(1) : Self.callerLimit,
      opensOnDemand: true, idleLimit: sleep?.quiet, logger: logger)
    if let sleep { callerPool.onUse = { sleep.stayAwake() } }
    badgeMax = settings.badgeMax
    apps = ReactorApps(plan, shadow: settings.shadow, metrics: metrics, logger: logger)
    others = OtherDeliverers(settings.channels, on: reactor)
    var configuration = PipelineConfiguration(settings)
    configuration.schedule.isLeading = number == 0
    configuration.schedule.isHelped = reactorCount > 1
    configuration.sleep = sleep
    let pipeline = DeliveryPipeline(
      store: PushDatabase(pool: pool, badgeMax: badgeMax), deliverers: [apps.deliverer] + others.all,
      configuration: configuration, metrics: PipelineMetrics(metrics), logger: logger)
    self.pipeline = pipeline
    // Until the first reactor says what the process owns.
    pipeline.own(.none, until: 0, on: reactor)
    duties =
      number > 0
      ? nil
      : ProcessDuties(
        settings, database: database, pool: pool, pipeline: pipeline, tokens: plan.sources, listening: listening,
        contract: contract, metrics: metrics, logger: logger, on: reactor)
    campaigns =
      number < reactorCount - 1
      ? nil
      : CampaignDuty(
        settings.campaigns, store: PushDatabase(pool: pool), database: database, pipeline: pipeline, metrics: metrics,
        logger: logger, on: reactor)
  }

  var services: PushServices {
    let callers = PushDatabase(pool: callerPool, badgeMax: badgeMax)
    return PushServices(
      callers: callers,
      operators: PushDatabase(pool: operatorPool),
      counts: PushDatabase(pool: countPool, lookLimit: PushDatabase.countLimit), pipeline: pipeline,
      isReadSyncEnabled: isReadSyncEnabled,
      wakeCampaigns: isPushTriggerEnabled ? { [unowned self] in last?.submit { $0.campaigns?.wake(on: $1) } } : nil,
      slots: SlotScheduler(store: callers, metrics: campaignMetrics, logger: logger),
      logger: logger,
      readiness: { [unowned self] in readiness() })
  }

  func start(neighbours: [ReactorBound<ReactorWorker>], on reactor: isolated Reactor) {
    pool.observer = pipeline
    pool.start(on: reactor)
    apps.warmUp(on: reactor)
    (first, last) = (neighbours.first, neighbours.last)
    self.neighbours = neighbours.filter { $0.reactor !== reactor }
    pipeline.observer = self
    duties?.start(on: reactor)
    campaigns?.start(on: reactor)
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
    duties?.renew(plan.sources)
  }

  /// The process will end: readiness says so from now on, and everything goes on.
  func leave(on reactor: isolated Reactor) { isLeaving = true }

  /// Finishes what was claimed and closes the connections.
  /// - Returns: whether everything was finished in time.
  func stop(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    duties?.stop(on: reactor)
    campaigns?.stop(on: reactor)
    await campaigns?.close(within: limit, on: reactor)
    let isDrained = await pipeline.drain(within: limit, on: reactor)
    pipeline.abandon()
    await duties?.close(on: reactor)
    apps.close(on: reactor)
    others.close(on: reactor)
    await callerPool.close(on: reactor)
    await operatorPool.close(on: reactor)
    await countPool.close(on: reactor)
    await pool.close(on: reactor)
    return isDrained
  }

  func figures(on reactor: isolated Reactor) -> ReactorFigures {
    ReactorFigures(
      reactor: reactor.name,
      ticks: reactor.ticks,
      jobsFromOtherThreads: reactor.executor.jobsFromOtherThreads,
      wakeUps: reactor.executor.wakeUps,
      database: pool.counters + callerPool.counters,
      sessions: pool.usage + callerPool.usage,
      claimAge: pipeline.claimAge(now: Reactor.now),
      apnsConnectionsOpened: apps.connectionsOpened,
      apns: apps.figures,
      routes: apps.routes(of: pipeline),
      others: others.states(in: pipeline))
  }

  /// What is known once in a process; nil on every reactor but the first.
  func processWideFigures(on reactor: isolated Reactor) async -> ProcessWideFigures? {
    guard let duties else { return nil }
    let database = await duties.figures.read(on: reactor)
    return ProcessWideFigures(
      database: database, isDatabaseAsleep: sleep?.isAsleep, listening: listening.state, tokenAges: apps.tokenAges)
  }

  /// Shown to everybody who asks: without the server's message.
  private var databaseFault: String? {
    guard pool.isReady || pool.isResting else {
      return "no session is open" + (pool.failure.map { ": \($0.description)" } ?? " yet")
    }
    if pool.takesNoWrites(now: Reactor.now) { return PostgresError.takesNoWrites }
    return pipeline.claimFault(now: Reactor.now)
  }

  func routeConditions(on reactor: isolated Reactor) -> [RouteCondition] {
    apps.routes(of: pipeline).map(\.condition) + others.conditions(in: pipeline)
  }

  private func readiness() -> [ReadinessCheck] {
    let databaseFault = databaseFault
    return [
      ReadinessCheck("database", isReady: databaseFault == nil, detail: databaseFault),
      ReadinessCheck("listen", isReady: listening.isReady, detail: listening.detail),
      contract.readiness,
    ] + apps.readiness(of: pipeline) + (clients?.readiness.map { [$0] } ?? [])
      + (isLeaving ? [ReadinessCheck("process", isReady: false, detail: "it is stopping")] : [])
  }
}

extension ReactorWorker: DeliveryPipelineObserver {
  func pipelineFoundMore(on reactor: isolated Reactor) {
    for neighbour in neighbours { neighbour.submit { $0.pipeline.wake(.neighbour, on: $1) } }
  }

  func pipelineHeardOfMessage(on reactor: isolated Reactor) {
    first?.submit { $0.pipeline.wake(.webhook, on: $1) }
  }

  func pipelineBusyChanged(_ isBusy: Bool, on reactor: isolated Reactor) {
    duties?.setAwake(isBusy, on: reactor)
  }

  func pipelineStopped(_ route: DeliveryRoute, because reason: String?, on reactor: isolated Reactor) {
    for neighbour in neighbours { neighbour.submit { $0.pipeline.stop(route, because: reason, on: $1) } }
  }

  func pipelineOwns(_ shards: OwnedShards, until end: UInt64) {
    for neighbour in neighbours { neighbour.submit { $0.pipeline.own(shards, until: end, on: $1) } }
  }

  func pipelineOwnershipChanged(on reactor: isolated Reactor) { duties?.lookForShards(on: reactor) }

  func pipelineAsksForNotifyCost(on reactor: isolated Reactor) {
    duties?.measureNotifyCost(on: reactor)
  }
}

/// The campaigns of a process: those of hours, with the language model that writes for them, and those of slots.
final class CampaignDuty {
  private let runner: CampaignRunner
  private let slots: SlotRunner
  private let model: LanguageModelClient?
  private let audiencePool: PostgresPool

  /// Nil where campaigns are switched off.
  /// - Parameter database: how the pools of the service connect.
  init?(
    _ settings: CampaignSettings, store: PushDatabase, database: PostgresConfiguration,
    pipeline: DeliveryPipeline, metrics: any MetricsFactory, logger: Logger, on reactor: isolated Reactor
  ) {
    guard settings.isEnabled else { return nil }
    audiencePool = PushDatabase.analysisPool(database, logger: logger)
    var writer: ModelWriter?
    if let key = settings.modelKey {
      let configuration = LanguageModelConfiguration(settings, key: key)
      let model = LanguageModelClient(configuration, on: reactor)
      self.model = model
      writer = ModelWriter(
        model, replyTokensMax: configuration.replyTokensMax, inputPrice: settings.modelInputPrice,
        outputPrice: settings.modelOutputPrice)
    } else {
      model = nil
      logger.notice("campaigns are on, and no language model is set up: only templates are sent")
    }
    let (sleep, pipeline) = (pipeline.sleep, ReactorBound(pipeline, on: reactor))
    var pace = CampaignPace()
    pace.standardMinutes = settings.minutes
    let metrics = CampaignMetrics(metrics)
    let contents = ContentFetcher(
      store: store, configuration: ContentConfiguration(settings), metrics: metrics, logger: logger, on: reactor)
    var slotPace = SlotPace()
    slotPace.rowsPerSecond = settings.slotPushesPerSecond
    let limits = ModelUsageLimits(
      tokensMax: settings.dailyTokensMax, costMicrodollarsMax: settings.dailyMicrodollarsMax)
    slots = SlotRunner(
      store: store, audiences: PushDatabase(pool: audiencePool), contents: contents, writer: writer, limits: limits,
      pace: slotPace, metrics: metrics, sleep: sleep, logger: logger,
      queued: { pipeline.value(on: $0).wake(.due, on: $0) })
    runner = CampaignRunner(
      store: store, writer: writer, limits: limits, pace: pace, metrics: metrics, sleep: sleep, logger: logger,
      queued: { pipeline.value(on: $0).wake(.due, on: $0) })
  }

  func start(on reactor: isolated Reactor) {
    reactor.start { await self.runner.run(on: reactor) }
    reactor.start { await self.slots.run(on: reactor) }
  }

  /// Looks at the users who are enrolled.
  func wake(on reactor: isolated Reactor) {
    runner.wake(on: reactor)
    slots.wake(on: reactor)
  }

  /// Begins no more users.
  func stop(on reactor: isolated Reactor) {
    runner.stop(on: reactor)
    slots.stop(on: reactor)
  }

  /// Waits for the users under way, and breaks off calls that last longer.
  func close(within limit: Duration, on reactor: isolated Reactor) async {
    _ = await slots.drain(within: limit, on: reactor)
    await audiencePool.close(within: .seconds(1), on: reactor)
    _ = await runner.drain(within: limit, on: reactor)
    model?.close(on: reactor)
  }
}

extension LanguageModelConfiguration {
  init(_ settings: CampaignSettings, key: Secret<String>) {
    let provider: LanguageModelProvider =
      settings.modelProvider == .anthropic ? .anthropicMessages : .openAICompatible
    self.init(provider, baseURL: settings.modelURL?.exposed, key: Credential(key.exposed))
    if let name = settings.modelName { model = name }
    deadline = settings.modelLimit
    if let certificates = settings.modelCertificates { trust = .only(certificates) }
  }
}

extension ContentConfiguration {
  init(_ settings: CampaignSettings) {
    self.init()
    authorization = settings.contentAuthorization.map { Credential($0.exposed) }
    allowsPrivateAddresses = settings.allowsPrivateContent
  }
}
