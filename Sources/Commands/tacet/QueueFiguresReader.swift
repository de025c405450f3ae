import Logging
import Postgres
import PushStore
import Reactors

/// Asks the database what waits, on a session of its own, and remembers the answer for a moment.
///
/// Its session is nobody else's, because statements share those of the pool and one that is slow would keep claims
/// waiting; the server ends it after a second. Whoever asks while an answer is awaited gets that one. When it dies, the figures
/// are missing.
final class QueueFiguresReader {
  /// How old an answer may be. Scrapers come every 15 seconds; several of them, or somebody's loop, cost one statement in
  /// this time.
  private static let lifetime = Duration.seconds(2)

  /// How long the server works on an answer before it says that it takes too long.
  private static let limit = Duration.seconds(1)
  /// How long that is waited for, and before it a session.
  private static let answerLimit = Duration.milliseconds(1400)
  private static let sessionLimit = Duration.milliseconds(500)

  private let pool: PostgresPool
  private let store: PushDatabase
  private let logger: Logger
  private var latest: (figures: QueueFigures?, isUp: Bool, answeredAt: UInt64)?
  private var isAsking = false
  private var waiters: [UnsafeContinuation<Void, Never>] = []

  /// - Parameter database: how the pools of the service connect.
  init(_ database: PostgresConfiguration, logger: Logger) {
    var database = database
    database.applicationName = "tacet figures"
    database.statementLimit = Self.limit
    database.answerLimit = Self.answerLimit
    pool = PostgresPool(database, size: 1, acquireLimit: Self.sessionLimit, logger: logger)
    store = PushDatabase(pool: pool)
    self.logger = logger
  }

  func start(on reactor: isolated Reactor) { pool.start(on: reactor) }

  func close(on reactor: isolated Reactor) async { await pool.close(on: reactor) }

  /// What waits, nil when the database does not say; and whether it answers at all.
  func read(on reactor: isolated Reactor) async -> (figures: QueueFigures?, isUp: Bool) {
    while isAsking { await withUnsafeContinuation { waiters.append($0) } }
    if let latest, Reactor.now &- latest.answeredAt < Self.lifetime.clampedNanoseconds {
      return (latest.figures, latest.isUp)
    }
    isAsking = true
    let answer = await ask(on: reactor)
    latest = (answer.figures, answer.isUp, Reactor.now)
    isAsking = false
    let woken = waiters
    waiters = []
    for waiter in woken { waiter.resume() }
    return answer
  }

  private func ask(on reactor: isolated Reactor) async -> (figures: QueueFigures?, isUp: Bool) {
    do throws(PostgresError) {
      return (try await store.queueFigures(within: Self.answerLimit, on: reactor), true)
    } catch {
      logger.debug("no figures of the queue", metadata: ["error": "\(error)"])
      return (nil, !error.concernsConnection)
    }
  }
}
