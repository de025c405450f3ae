import Logging
import Postgres
import PushStore
import Reactors

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
