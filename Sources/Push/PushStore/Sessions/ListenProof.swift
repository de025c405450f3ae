internal import Logging
internal import Postgres
internal import Reactors

/// The proof that notifications arrive: a notification that another session sends to a separate channel, again and again.
/// Behind a pooler in transaction mode, or on a connection whose other end has vanished, nothing else would tell.
final class ListenProof: PostgresProbeSender {
  /// No session listens to it: notifies are sent to it to measure what they cost.
  private static let paceChannel = "tacet_pace"

  private let pool: PostgresPool
  private let logger: Logger

  init(pool: PostgresPool, logger: Logger) {
    self.pool = pool
    self.logger = logger
  }

  /// Notifies through the pool.
  func sendProbe(_ token: String, to channel: String, on reactor: isolated Reactor) async throws(PostgresError) {
    _ = try await pool.query(.sendProbe(channel: channel, token: token), on: reactor)
  }

  /// Notifications arrive still.
  func probeHeard(on reactor: isolated Reactor) {
    reactor.start { await self.renewListening(on: reactor) }
  }

  /// Records in the database that a service hears. Without it the triggers stop notifying after a while, and polling finds
  /// what they do not tell.
  func renewListening(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      _ = try await pool.query(.renewListening, on: reactor)
    } catch {
      logger.debug("cannot note that somebody listens", metadata: ["error": "\(error)"])
    }
  }

  /// What a commit that notifies takes now; nil when it failed.
  func notifyCost(on reactor: isolated Reactor) async -> Duration? {
    let start = Reactor.now
    do throws(PostgresError) {
      try await sendProbe("", to: Self.paceChannel, on: reactor)
    } catch {
      return nil
    }
    return .nanoseconds(Int64(Reactor.now - start))
  }
}

extension WakeListener {
  /// How often the proof is asked for, and how long it may take. Together, and with the second that the session has for
  /// an answer when no proof could be asked for, they are how long a silent death can go unnoticed: a second less than
  /// the quarter of a minute that operators are promised.
  package static let probeInterval = Duration.seconds(8)
  /// See ``probeInterval``.
  package static let probeLimit = Duration.seconds(5)
}
