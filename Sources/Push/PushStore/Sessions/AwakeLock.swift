internal import Logging
internal import Postgres
internal import Reactors

/// The awake lock, held by a ``WakeListener``'s session while the service polls anyway, so that the host's inserts do not
/// notify: a NOTIFY in every transaction makes concurrent commits wait for each other. The lock ends with the session: if
/// this process dies, the next insert notifies again.
final class AwakeLock {
  /// How long one attempt waits for transactions that hold the lock shared because they are about to notify. A host
  /// transaction may stay open for hours; nothing is lost but a notification for nothing.
  static let wait = Duration.seconds(1)

  /// Before the next attempt at the lock, so that a refusal is not asked for in a loop.
  private static let retryWait = Duration.milliseconds(100)

  /// The session; nil before it is made and after it was closed.
  weak var listener: PostgresListener?
  private weak var handler: (any WakeHandler)?
  private let logger: Logger
  private var isWanted = false
  private var isHeld = false
  private var isChanging = false

  init(handler: any WakeHandler, logger: Logger) {
    self.handler = handler
    self.logger = logger
  }

  /// Wants or no longer wants the lock; what is wanted last is brought about.
  func want(_ isWanted: Bool, on reactor: isolated Reactor) {
    self.isWanted = isWanted
    bringAbout(on: reactor)
  }

  /// Wants the lock no longer, because the session ends.
  func close() {
    isWanted = false
  }

  /// The session has ended, or another one has begun: the lock is not held.
  func sessionChanged() {
    isHeld = false
  }

  /// Takes or lets go the lock, as is wanted.
  func bringAbout(on reactor: isolated Reactor) {
    guard !isChanging else { return }
    isChanging = true
    reactor.start { await self.change(on: reactor) }
  }

  private func change(on reactor: isolated Reactor) async {
    while let listener, listener.isListening, isWanted != isHeld {
      let isTaken = isWanted
      do throws(PostgresError) {
        _ = try await listener.query(isTaken ? PushStatements.lockAwake : PushStatements.unlockAwake, on: reactor)
        isHeld = isTaken
        if !isTaken { handler?.databaseWoke(on: reactor) }
      } catch {
        logger.debug("the awake lock could not be changed", metadata: ["error": "\(error)"])
        // While the lock is asked for, triggers find it taken: what they did not notify of is looked for here, because
        // by now no reactor may be polling any more.
        if isTaken { handler?.databaseWoke(on: reactor) }
        await reactor.sleep(for: Self.retryWait)
      }
    }
    isChanging = false
  }
}
