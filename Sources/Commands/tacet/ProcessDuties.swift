import Channels
import CoreMetrics
import Logging
import Postgres
import PushPipeline
import PushStore
import Reactors
import Settings

/// What a process does once, on the first of its reactors.
final class ProcessDuties {
  /// Hears the notifications; a reactor that finds more than it can take asks the others. Nil behind a pooler that
  /// swallows them.
  private let listener: WakeListener?
  private let tokenTimer: TokenRenewal
  private let rescuer: Rescuer
  private let pruner: Pruner
  private let analysisPool: PostgresPool
  private let analyst: EngagementAnalyst
  private let beacon: InstanceBeacon
  private let contract: ContractWatch
  /// Nil where the host gets no events.
  private let events: HostEventDuty?
  /// How long events under way may take. They are sent again after their leases, under the same id.
  private static let eventsLimit = Duration.seconds(3)

  /// What waits in the database, for `/metrics`.
  let figures: QueueFiguresReader

  init(
    _ settings: ServeSettings, database: PostgresConfiguration, pool: PostgresPool, pipeline: DeliveryPipeline,
    tokens: [ProviderTokenSource], listening: ListenStatus, contract: ContractStatus, metrics: any MetricsFactory,
    logger: Logger,
    on reactor: isolated Reactor
  ) {
    listener =
      settings.database.reasonNotToListen == nil
      ? WakeListener(database, pool: pool, status: listening, logger: logger, handler: pipeline) : nil
    tokenTimer = TokenRenewal(tokens, logger: logger)
    rescuer = Rescuer(for: pipeline)
    let sleep = pipeline.sleep
    beacon = InstanceBeacon(.current, store: PushDatabase(pool: pool), sleep: sleep, logger: logger)
    self.contract = ContractWatch(
      store: PushDatabase(pool: pool), status: contract, sleep: sleep, logger: logger)
    figures = QueueFiguresReader(database, sleep: sleep, logger: logger)
    pruner = Pruner(store: PushDatabase(pool: pool), retention: settings.retention, sleep: sleep, logger: logger)
    analysisPool = PushDatabase.analysisPool(database, logger: logger)
    analyst = EngagementAnalyst(store: PushDatabase(pool: analysisPool), sleep: sleep, logger: logger)
    events = HostEventDuty(
      settings.events, store: PushDatabase(pool: pool), sleep: sleep, metrics: metrics, logger: logger, on: reactor)
  }

  func start(on reactor: isolated Reactor) {
    listener?.start(on: reactor)
    figures.start(on: reactor)
    tokenTimer.start(on: reactor)
    reactor.start { await self.rescuer.run(on: reactor) }
    reactor.start { await self.pruner.run(on: reactor) }
    reactor.start { await self.analyst.run(on: reactor) }
    reactor.start { await self.beacon.run(on: reactor) }
    reactor.start { await self.contract.run(on: reactor) }
    events?.start(on: reactor)
  }

  /// The provider tokens to renew from now on.
  func renew(_ tokens: [ProviderTokenSource]) {
    tokenTimer.sources = tokens
  }

  /// Whether the host's inserts need not notify, because this process polls.
  func setAwake(_ isAwake: Bool, on reactor: isolated Reactor) {
    listener?.setAwake(isAwake, on: reactor)
  }

  /// Measures what a notification costs the host, and reports it to the pipeline.
  func measureNotifyCost(on reactor: isolated Reactor) {
    listener?.measureNotifyCost(on: reactor)
  }

  /// Begins nothing more.
  func stop(on reactor: isolated Reactor) {
    rescuer.stop(on: reactor)
    pruner.stop(on: reactor)
    analyst.stop(on: reactor)
    beacon.stop(on: reactor)
    contract.stop(on: reactor)
    events?.stop(on: reactor)
    tokenTimer.stop(on: reactor)
  }

  /// Says that the process is about to end, and ends the separate sessions.
  func close(on reactor: isolated Reactor) async {
    await events?.close(within: Self.eventsLimit, on: reactor)
    await beacon.close(on: reactor)
    await listener?.close(on: reactor)
    await figures.close(on: reactor)
    // One that is cut off is done by another process, or after the next start.
    await analysisPool.close(within: .seconds(1), on: reactor)
  }
}
