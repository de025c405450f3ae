public import Logging
public import Postgres
public import Reactors

/// Hears the database's notifications, and tells it when none are needed.
///
/// Its session holds the awake lock while the service polls anyway, so that the host's inserts do not notify: a NOTIFY
/// in every transaction makes concurrent commits wait for each other. The lock ends with the session; whatever happens
/// to this process, the next insert notifies again.
public final class WakeListener {
  /// How long one attempt waits for transactions that hold the lock shared because they are about to notify. A host
  /// transaction may stay open for hours; nothing is lost but a notification for nothing.
  private static let lockWait = Duration.seconds(1)

  /// Before the next attempt at the lock, so that a refusal is not asked for in a loop.
  private static let lockRetryWait = Duration.milliseconds(100)

  private let status: ListenStatus
  private let logger: Logger
  private weak var handler: (any WakeHandler)?
  private var listener: PostgresListener?
  private var wantsAwakeLock = false
  private var holdsAwakeLock = false
  private var isChangingLock = false

  /// - Parameters:
  ///   - status: told whether notifications arrive. handler: whom to wake; not kept alive.
  public init(
    _ configuration: PostgresConfiguration, status: ListenStatus, logger: Logger, handler: any WakeHandler
  ) {
    self.status = status
    self.logger = logger
    self.handler = handler
    var configuration = configuration
    configuration.applicationName = "tacet listen"
    configuration.settings["lock_timeout"] = "\(Self.lockWait.components.seconds)s"
    listener = PostgresListener(configuration, channels: ["tacet"], logger: logger, handler: self)
  }

  /// Begins to listen, and goes on through every loss of the session.
  public func start(on reactor: isolated Reactor) {
    listener?.start(on: reactor)
  }

  /// Wants or no longer wants the awake lock; what is wanted last is brought about.
  public func setAwake(_ isAwake: Bool, on reactor: isolated Reactor) {
    wantsAwakeLock = isAwake
    guard !isChangingLock else { return }
    isChangingLock = true
    reactor.start { await self.changeLock(on: reactor) }
  }

  /// Ends the session, and with it the awake lock.
  public func close(on reactor: isolated Reactor) async {
    wantsAwakeLock = false
    await listener?.close(on: reactor)
    listener = nil
  }

  private func changeLock(on reactor: isolated Reactor) async {
    while let listener, listener.isListening, wantsAwakeLock != holdsAwakeLock {
      let isWanted = wantsAwakeLock
      do throws(PostgresError) {
        _ = try await listener.query(isWanted ? PushStatements.lockAwake : PushStatements.unlockAwake, on: reactor)
        holdsAwakeLock = isWanted
        if !isWanted { handler?.databaseWoke(on: reactor) }
      } catch {
        logger.debug("the awake lock could not be changed", metadata: ["error": "\(error)"])
        // While the lock is asked for, triggers find it taken: what they did not notify of is looked for here, because
        // by now nobody may be polling any more.
        if isWanted { handler?.databaseWoke(on: reactor) }
        await reactor.sleep(for: Self.lockRetryWait)
      }
    }
    isChangingLock = false
  }
}

/// Whom a ``WakeListener`` wakes.
public protocol WakeHandler: AnyObject {
  /// Something may wait in the inbox: called for every notification, after every reconnect, and after the awake lock
  /// was let go, whenever something may have been missed.
  func databaseWoke(on reactor: isolated Reactor)
}

extension WakeListener: PostgresListenerHandler {
  /// A host transaction committed something.
  public func notificationArrived(_ notification: PostgresNotification, on reactor: isolated Reactor) {
    handler?.databaseWoke(on: reactor)
  }

  /// The session came or went. What was committed while it was away is found by the look that a new one brings.
  public func listenerStateChanged(_ state: PostgresListener.State, on reactor: isolated Reactor) {
    holdsAwakeLock = false
    switch state {
    case .listening:
      status.isListening = true
      logger.info("listening for notifications")
      handler?.databaseWoke(on: reactor)
      setAwake(wantsAwakeLock, on: reactor)
    case .lost(let error):
      status.isListening = false
      logger.error("not listening; polling goes on", metadata: ["error": "\(error)"])
    }
  }
}
