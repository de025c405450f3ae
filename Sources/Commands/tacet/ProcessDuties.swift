import API
import Channels
import CoreMetrics
import Logging
import Operations
import Postgres
import PushPipeline
import PushStore
import Reactors
import Settings
import Synchronization

/// What a process does once, on the first of its reactors.
final class ProcessDuties {
  /// Hears the notifications. Nil behind a pooler that swallows them.
  private let listener: WakeListener?
  private let tokenTimer: TokenRenewal
  private let rescuer: Rescuer
  private let pruner: Pruner
  private let analysisPool: PostgresPool
  private let analyst: EngagementAnalyst
  private let keeper: ShardKeeper
  private let contract: ContractWatch
  /// Nil where the host gets no events.
  private let events: HostEventSender?
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
    keeper = ShardKeeper(of: .current, for: pipeline, logger: logger)
    self.contract = ContractWatch(
      store: PushDatabase(pool: pool), status: contract, sleep: sleep, logger: logger)
    figures = QueueFiguresReader(database, sleep: sleep, logger: logger)
    pruner = Pruner(store: PushDatabase(pool: pool), retention: settings.retention, sleep: sleep, logger: logger)
    analysisPool = PushDatabase.analysisPool(database, logger: logger)
    analyst = EngagementAnalyst(store: PushDatabase(pool: analysisPool), sleep: sleep, logger: logger)
    events = settings.events.map {
      HostEventSender(
        store: PushDatabase(pool: pool), receiver: HostEventReceiver(HostEventConfiguration($0), on: reactor),
        metrics: HostEventMetrics(metrics), sleep: sleep, logger: logger)
    }
  }

  func start(on reactor: isolated Reactor) {
    listener?.start(on: reactor)
    figures.start(on: reactor)
    tokenTimer.start(on: reactor)
    reactor.start { await self.rescuer.run(on: reactor) }
    reactor.start { await self.pruner.run(on: reactor) }
    reactor.start { await self.analyst.run(on: reactor) }
    reactor.start { await self.keeper.run(on: reactor) }
    reactor.start { await self.contract.run(on: reactor) }
    if let events { reactor.start { await events.run(on: reactor) } }
  }

  /// The provider tokens to renew from now on.
  func renew(_ tokens: [ProviderTokenSource]) {
    tokenTimer.sources = tokens
  }

  /// Whether the host's inserts need not notify, because this process polls.
  func setAwake(_ isAwake: Bool, on reactor: isolated Reactor) {
    listener?.setAwake(isAwake, on: reactor)
  }

  /// Another process has given up shards or keeps the host from notifying, or this one leaves the database alone.
  func lookForShards(on reactor: isolated Reactor) { keeper.look(on: reactor) }

  /// Measures what a notification costs the host, and reports it to the pipeline.
  func measureNotifyCost(on reactor: isolated Reactor) {
    listener?.measureNotifyCost(on: reactor)
  }

  /// Begins nothing more.
  func stop(on reactor: isolated Reactor) {
    rescuer.stop(on: reactor)
    pruner.stop(on: reactor)
    analyst.stop(on: reactor)
    contract.stop(on: reactor)
    events?.stop(on: reactor)
    tokenTimer.stop(on: reactor)
  }

  /// Says that the process is about to end, and ends the separate sessions.
  func close(on reactor: isolated Reactor) async {
    await events?.drain(within: Self.eventsLimit, on: reactor)
    await keeper.close(on: reactor)
    await listener?.close(on: reactor)
    await figures.close(on: reactor)
    // One that is cut off is done by another process, or after the next start.
    await analysisPool.close(within: .seconds(1), on: reactor)
  }
}

/// Plays a message through the host contract when the service starts, and each minute while that does not work: an
/// operator who replaced a function or forgot a grant learns of it before a message comes. One in each process; when it dies,
/// only failing claims show it.
final class ContractWatch {
  /// Between two trials while something is wrong.
  private static let interval = Duration.seconds(60)
  /// Between two trials while the database is away.
  private static let outageInterval = Duration.seconds(1)

  private let store: PushDatabase
  private let status: ContractStatus
  private let logger: Logger
  private let pause: WakefulPause
  private var isStopped = false
  private var told: [Judgement] = []

  init(store: PushDatabase, status: ContractStatus, sleep: DatabaseSleep?, logger: Logger) {
    self.store = store
    self.status = status
    self.logger = logger
    pause = WakefulPause(sleep)
  }

  /// Works until all is well, or ``stop(on:)``.
  func run(on reactor: isolated Reactor) async {
    while !isStopped, let wait = await look(on: reactor) {
      _ = await pause.wait(for: wait * .random(in: 0.8...1.2), on: reactor)
    }
  }

  func stop(on reactor: isolated Reactor) {
    isStopped = true
    pause.signal(on: reactor)
  }

  /// - Returns: when to look again; nil when all is well.
  private func look(on reactor: isolated Reactor) async -> Duration? {
    do throws(PostgresError) {
      let trials = try await store.rehearseMessage(on: reactor)
      // Claims and readiness say so.
      if ContractTrial.areRefused(trials) { return Self.outageInterval }
      let findings = Judgement.contract(trials, role: "the service").filter { $0.verdict != .ok }
      status.update(trials)
      if findings != told { tell(findings) }
      return findings.isEmpty ? nil : Self.interval
    } catch {
      guard error.blamesStatement else { return Self.outageInterval }
      logger.warning("the host contract could not be tried", metadata: ["error": "\(error.debugDescription)"])
      return Self.interval
    }
  }

  private func tell(_ findings: [Judgement]) {
    told = findings
    for finding in findings {
      logger.warning(
        "messages would not be pushed as they should",
        metadata: ["found": "\(finding.found)", "todo": "\(finding.remedy ?? "")"])
    }
    if findings.isEmpty { logger.notice("the host contract works") }
  }
}

/// What is known of the host contract, readable from every reactor.
final class ContractStatus: Sendable {
  private let failed = Mutex<[String]>([])

  fileprivate func update(_ trials: [ContractTrial]) {
    failed.withLock { $0 = trials.filter { $0.outcome == .failed }.map(\.step) }
  }

  /// Not ready when no message can be pushed. Callers learn the names of functions, and nothing of the host's tables.
  var readiness: ReadinessCheck {
    let failed = failed.withLock { $0 }
    let names = failed.map { $0 == "trigger" ? "the trigger on messages" : "tacet.\($0)" }
    return ReadinessCheck(
      "contract", isReady: ContractTrial.neededForPushes.isDisjoint(with: failed),
      detail: names.isEmpty
        ? nil : "\(names.joined(separator: ", ")): does not work; the log and tacet doctor say what to do")
  }
}

/// What the database says of itself at a scrape.
struct DatabaseFigures {
  /// What waits; nil when the database does not say.
  var queue: QueueFigures?
  /// The newest analysis of engagement; nil when there is none, or the database does not say.
  var engagement: EngagementAnalysis?
  /// Events for the host; nil when the database does not say.
  var hostEvents: HostEventFigures?
  var isUp: Bool
}

/// Asks the database what waits, on a separate session, and remembers the answer for two seconds.
///
/// The session is separate because statements share those of the pool, and a slow one would keep claims waiting; the server
/// ends it after a second. Concurrent callers share one answer. When it dies, the figures are missing.
final class QueueFiguresReader {
  /// How old an answer may be. Scrapers come every 15 seconds; several of them, or a loop, cost one statement in
  /// this time.
  private static let lifetime = Duration.seconds(2)

  /// How long the server works on an answer before it says that it takes too long.
  private static let limit = Duration.seconds(1)
  /// How long that is waited for, and before it a session.
  private static let answerLimit = Duration.milliseconds(1400)
  private static let sessionLimit = Duration.milliseconds(500)

  /// Longer than between two scrapes.
  private static let idleLimit = Duration.seconds(20)

  private let pool: PostgresPool
  private let store: PushDatabase
  private let sleep: DatabaseSleep?
  private let logger: Logger
  private var latest: (figures: DatabaseFigures, answeredAt: UInt64)?
  private var isAsking = false
  private var waiters: [UnsafeContinuation<Void, Never>] = []

  /// - Parameters:
  ///   - database: how the pools of the service connect.
  ///   - sleep: nothing is asked in it, and what waits is unknown.
  init(_ database: PostgresConfiguration, sleep: DatabaseSleep?, logger: Logger) {
    var database = database
    database.applicationName = "tacet figures"
    database.statementLimit = Self.limit
    database.answerLimit = Self.answerLimit
    pool = PostgresPool(
      database, size: 1, acquireLimit: Self.sessionLimit, idleLimit: sleep.map { min(Self.idleLimit, $0.quiet) },
      logger: logger)
    store = PushDatabase(pool: pool)
    self.sleep = sleep
    self.logger = logger
  }

  func start(on reactor: isolated Reactor) { pool.start(on: reactor) }

  func close(on reactor: isolated Reactor) async { await pool.close(on: reactor) }

  /// What the database says now, or has said in the last two seconds.
  func read(on reactor: isolated Reactor) async -> DatabaseFigures {
    // It answered when the process fell asleep.
    if sleep?.isAsleep == true { return DatabaseFigures(isUp: true) }
    while isAsking { await withUnsafeContinuation { waiters.append($0) } }
    if let latest, Reactor.now &- latest.answeredAt < Self.lifetime.clampedNanoseconds {
      return latest.figures
    }
    isAsking = true
    let answer = await ask(on: reactor)
    latest = (answer, Reactor.now)
    isAsking = false
    let woken = waiters
    waiters = []
    for waiter in woken { waiter.resume() }
    return answer
  }

  private func ask(on reactor: isolated Reactor) async -> DatabaseFigures {
    let deadline = Reactor.now &+ Self.answerLimit.clampedNanoseconds
    do throws(PostgresError) {
      var figures = DatabaseFigures(isUp: true)
      figures.queue = try await store.queueFigures(within: Self.answerLimit, on: reactor)
      figures.engagement = await engagement(until: deadline, on: reactor)
      figures.hostEvents = await hostEvents(until: deadline, on: reactor)
      return figures
    } catch {
      logger.debug("no figures of the queue", metadata: ["error": "\(error)"])
      return DatabaseFigures(isUp: !error.concernsConnection)
    }
  }

  /// Without them the other figures are shown.
  private func hostEvents(until deadline: UInt64, on reactor: isolated Reactor) async -> HostEventFigures? {
    let now = Reactor.now
    do throws(PostgresError) {
      return try await store.hostEventFigures(within: .nanoseconds(deadline - min(now, deadline)), on: reactor)
    } catch {
      logger.debug("no figures of events for the host", metadata: ["error": "\(error)"])
      return nil
    }
  }

  /// Without it the other figures are shown.
  private func engagement(until deadline: UInt64, on reactor: isolated Reactor) async -> EngagementAnalysis? {
    let now = Reactor.now
    do throws(PostgresError) {
      return try await store.newestEngagementAnalysis(
        within: .nanoseconds(deadline - min(now, deadline)), on: reactor)
    } catch {
      logger.debug("no figures of engagement", metadata: ["error": "\(error)"])
      return nil
    }
  }
}
