import API
import Campaigns
import CoreMetrics
import Logging
import Postgres
import PushPipeline
import PushStore
import Reactors
import Settings

/// What one reactor answers requests with: its sessions beside those of the pipeline.
final class ReactorWorker {
  /// Sessions for what apps, webhooks and other servers ask: one may wait for a lock while the other goes on.
  private static let poolSize = 2

  /// How long callers wait for a session of a database that may sleep. Neon wakes up in about a second; callers of one that
  /// takes longer are told to come again.
  private static let callerLimit = Duration.seconds(5)

  /// After how long the session that counts all users ends, which is seldom asked to.
  private static let countIdleLimit = Duration.seconds(5)

  private let pool: PostgresPool
  private let operatorPool: PostgresPool
  private let countPool: PostgresPool
  private let badgeMax: Int
  private let isReadSyncEnabled: Bool
  private let campaignMetrics: CampaignMetrics
  private let logger: Logger

  init(_ settings: ServeSettings, sessions: ServiceSessions, metrics: any MetricsFactory, logger: Logger) {
    let sleep = sessions.sleep
    operatorPool = PushDatabase.operatorPool(sessions.plain, idleLimit: sleep?.quiet, logger: logger)
    countPool = PushDatabase.operatorPool(
      sessions.plain, limit: PushDatabase.countLimit, idleLimit: Self.countIdleLimit, logger: logger)
    pool = PostgresPool(
      sessions.configuration, size: Self.poolSize, acquireLimit: sleep == nil ? .seconds(1) : Self.callerLimit,
      opensOnDemand: true, idleLimit: sleep?.quiet, logger: logger)
    if let sleep { pool.onUse = { sleep.stayAwake() } }
    badgeMax = settings.badgeMax
    isReadSyncEnabled = settings.isReadSyncEnabled
    campaignMetrics = CampaignMetrics(metrics)
    self.logger = logger
  }

  /// - Parameter campaigns: the process's; nil where they are switched off.
  func services(
    with pipeline: ReactorBound<PipelineWorker>, _ handle: PipelineHandle, _ campaigns: ReactorBound<CampaignDuty>?
  ) -> PushServices {
    let callers = PushDatabase(pool: pool, badgeMax: badgeMax)
    return PushServices(
      callers: callers,
      operators: PushDatabase(pool: operatorPool),
      counts: PushDatabase(pool: countPool, lookLimit: PushDatabase.countLimit), pipeline: handle,
      isReadSyncEnabled: isReadSyncEnabled,
      wakeCampaigns: campaigns.map { campaigns in { campaigns.submit { $0.wake(on: $1) } } },
      slots: SlotScheduler(store: callers, metrics: campaignMetrics, logger: logger),
      logger: logger,
      readiness: { await pipeline.perform { worker, _ in worker.readiness() } })
  }

  func close(on reactor: isolated Reactor) async {
    for pool in [pool, operatorPool, countPool] { await pool.close(on: reactor) }
  }

  func figures(on reactor: isolated Reactor) -> ReactorFigures {
    ReactorFigures(
      reactor: reactor.name,
      ticks: reactor.ticks,
      jobsFromOtherThreads: reactor.executor.jobsFromOtherThreads,
      wakeUps: reactor.executor.wakeUps,
      sessions: SessionLoad(of: pool))
  }
}
