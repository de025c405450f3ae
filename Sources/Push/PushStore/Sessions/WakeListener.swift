public import Logging
public import Postgres
public import Reactors
internal import Synchronization

/// Hears the database's notifies, and tells it when it needs to send none.
///
/// Its session holds the awake lock while the service polls anyway, so that the host's inserts do not notify: a NOTIFY
/// in every transaction makes concurrent commits wait for each other. The lock ends with the session: if this
/// process dies, the next insert notifies again.
///
/// That it hears is proved again and again by a notification that another session sends to a separate channel: behind a
/// pooler in transaction mode, or on a connection whose other end has vanished, nothing else would tell. Each proof is
/// recorded in the database, whose triggers notify only as long as a service hears.
public final class WakeListener {
  /// What `tacet.release_holds` says with a notification when it has queued releases.
  private static let releasePayload = "release"

  /// How long one attempt waits for transactions that hold the lock shared because they are about to notify. A host
  /// transaction may stay open for hours; nothing is lost but a notification for nothing.
  private static let lockWait = Duration.seconds(1)

  /// No session listens to it: notifies are sent to it to measure what they cost.
  private static let paceChannel = "tacet_pace"

  /// Before the next attempt at the lock, so that a refusal is not asked for in a loop.
  private static let lockRetryWait = Duration.milliseconds(100)

  /// How often the proof is asked for, and how long it may take. Together, and with the second that the session has for
  /// an answer when no proof could be asked for, they are how long a silent death can go unnoticed: a second less than
  /// the quarter of a minute that operators are promised.
  public static let probeInterval = Duration.seconds(8)
  /// See ``probeInterval``.
  public static let probeLimit = Duration.seconds(5)

  private let pool: PostgresPool
  private let status: ListenStatus
  private let logger: Logger
  private weak var handler: (any WakeHandler)?
  private var listener: PostgresListener?
  private var wantsAwakeLock = false
  private var holdsAwakeLock = false
  private var isChangingLock = false
  /// The failure that was logged last; each attempt to connect fails in the same way, and one line about it is enough.
  private var loggedFailure: String?

  /// - Parameters:
  ///   - configuration: how to open the session that listens.
  ///   - pool: whose sessions send the probes; stays the caller's.
  ///   - status: told whether notifications arrive.
  ///   - handler: woken; not kept alive.
  public init(
    _ configuration: PostgresConfiguration, pool: PostgresPool, probeInterval: Duration = WakeListener.probeInterval,
    probeLimit: Duration = WakeListener.probeLimit, status: ListenStatus, logger: Logger, handler: any WakeHandler
  ) {
    self.pool = pool
    self.status = status
    self.logger = logger
    self.handler = handler
    var configuration = configuration
    configuration.applicationName = "tacet listen"
    configuration.settings["lock_timeout"] = "\(Self.lockWait.components.seconds)s"
    listener = PostgresListener(
      configuration, channels: ["tacet"], heartbeatInterval: probeInterval, heartbeatLimit: probeLimit,
      probeSender: self, logger: logger, handler: self)
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

  /// Measures what a commit that notifies takes now, and tells the handler: the host's take as long. It waits with them for
  /// the lock on the queue of notifications, and for the disk.
  public func measureNotifyCost(on reactor: isolated Reactor) {
    reactor.start {
      let start = Reactor.now
      do throws(PostgresError) {
        try await self.sendProbe("", to: Self.paceChannel, on: reactor)
      } catch {
        return
      }
      self.handler?.notifyCostMeasured(.nanoseconds(Int64(Reactor.now - start)), on: reactor)
    }
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

/// Woken by a ``WakeListener``.
public protocol WakeHandler: AnyObject {
  /// Something may wait in the inbox: called for every notification, after every reconnect, and after the awake lock
  /// was let go, whenever something may have been missed.
  func databaseWoke(on reactor: isolated Reactor)

  /// Holds are to be released that a host's transaction could not release itself.
  func releasesQueued(on reactor: isolated Reactor)

  /// Whether notifications are known to arrive.
  func hearingChanged(_ isHearing: Bool, on reactor: isolated Reactor)

  /// What a commit that notifies took, as ``WakeListener/measureNotifyCost(on:)`` was asked.
  func notifyCostMeasured(_ cost: Duration, on reactor: isolated Reactor)
}

extension WakeListener: PostgresListenerHandler {
  /// A host transaction committed something.
  public func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor) {
    if notification.payload == Self.releasePayload {
      handler?.releasesQueued(on: reactor)
    } else {
      handler?.databaseWoke(on: reactor)
    }
  }

  /// The session came or went. What was committed while it was away is found by the look that a new one brings.
  public func listenerStateChanged(_ state: PostgresListener.State, on reactor: isolated Reactor) {
    holdsAwakeLock = false
    switch state {
    case .listening:
      status.state = .listening
      loggedFailure = nil
      logger.info("listening for notifications")
      reactor.start { await self.beginHearing(on: reactor) }
      setAwake(wantsAwakeLock, on: reactor)
    case .lost(let error):
      status.state = .deaf(error.description)
      handler?.hearingChanged(false, on: reactor)
      logLoss(error)
    }
  }

  /// The triggers begin to notify when they see that a service hears. What was committed before is looked for after that.
  private func beginHearing(on reactor: isolated Reactor) async {
    await renewListening(on: reactor)
    handler?.hearingChanged(true, on: reactor)
    handler?.databaseWoke(on: reactor)
  }

  private func logLoss(_ error: PostgresError) {
    guard loggedFailure != error.description else { return }
    loggedFailure = error.description
    logger.error("not listening; polling goes on", metadata: ["error": "\(error)"])
  }
}

extension WakeListener: PostgresProbeSender {
  /// Notifies through the pool.
  public func sendProbe(
    _ token: String, to channel: String, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    _ = try await pool.query(.sendProbe(channel: channel, token: token), on: reactor)
  }

  /// Notifications arrive still.
  public func probeHeard(on reactor: isolated Reactor) {
    reactor.start { await self.renewListening(on: reactor) }
  }

  /// Without it the triggers stop notifying after a while, and polling finds what they do not tell.
  private func renewListening(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      _ = try await pool.query(.renewListening, on: reactor)
    } catch {
      logger.debug("cannot note that somebody listens", metadata: ["error": "\(error)"])
    }
  }
}

/// Whether notifications arrive, readable from every reactor; one listener writes it.
public final class ListenStatus: Sendable {
  /// What is known.
  public enum State: Sendable, Equatable {
    /// Not heard of anything yet.
    case starting
    /// A notification was sent and arrived a moment ago.
    case listening
    /// Notifications do not arrive, and why.
    case deaf(String)
    /// The service does not listen: the database's sessions are lent by transactions.
    case unused
  }

  private let current = Mutex(State.starting)

  /// Nothing arrives yet.
  /// - Parameter isUsed: whether anybody is going to listen.
  public init(isUsed: Bool = true) {
    current.withLock { $0 = isUsed ? .starting : .unused }
  }

  /// What is known now.
  public internal(set) var state: State {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  /// Whether all is as the settings want it.
  public var isReady: Bool { state == .listening || state == .unused }

  /// What an operator should know; nil while notifications arrive.
  public var detail: String? {
    switch state {
    case .starting: "no notification has arrived yet; polling goes on"
    case .listening: nil
    case .deaf(let reason): "polling goes on; \(reason)"
    case .unused: "not used, as DATABASE_POOL_MODE is transaction; webhooks and polling wake the service"
    }
  }
}
