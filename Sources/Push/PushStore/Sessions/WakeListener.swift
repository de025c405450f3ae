package import Logging
package import Postgres
package import Reactors
internal import Synchronization

/// Hears the database's notifies, and tells it when it needs to send none: while its session holds the ``AwakeLock``.
///
/// That it hears is proved again and again, as ``ListenProof`` says. Each proof is recorded in the database, whose triggers
/// notify only as long as a service hears.
package final class WakeListener {
  /// What `tacet.release_holds` says with a notification when it has queued releases.
  private static let releasePayload = "release"
  /// What `tacet.give_up_shards` says, and who takes the awake lock.
  private static let shardsPayload = "shards"

  /// The longest wait that a notification may ask for.
  private static let longestWait = Duration.seconds(3600)

  private let status: ListenStatus
  private let logger: Logger
  private let proof: ListenProof
  private let awakeLock: AwakeLock
  private weak var handler: (any WakeHandler)?
  private var listener: PostgresListener?
  /// The failure that was logged last; each attempt to connect fails in the same way, and one line about it is enough.
  private var loggedFailure: String?

  /// - Parameters:
  ///   - configuration: how to open the session that listens.
  ///   - pool: whose sessions send the probes; stays the caller's.
  ///   - status: told whether notifications arrive.
  ///   - handler: woken; not kept alive.
  package init(
    _ configuration: PostgresConfiguration, pool: PostgresPool, probeInterval: Duration = WakeListener.probeInterval,
    probeLimit: Duration = WakeListener.probeLimit, status: ListenStatus, logger: Logger, handler: any WakeHandler
  ) {
    self.status = status
    self.logger = logger
    self.handler = handler
    proof = ListenProof(pool: pool, logger: logger)
    awakeLock = AwakeLock(handler: handler, logger: logger)
    var configuration = configuration
    configuration.applicationName = "tacet listen"
    configuration.settings["lock_timeout"] = "\(AwakeLock.wait.components.seconds)s"
    listener = PostgresListener(
      configuration, channels: ["tacet"], heartbeatInterval: probeInterval, heartbeatLimit: probeLimit,
      probeSender: proof, logger: logger, handler: self)
    awakeLock.listener = listener
  }

  /// Begins to listen, and goes on through every loss of the session.
  package func start(on reactor: isolated Reactor) {
    listener?.start(on: reactor)
  }

  /// Wants or no longer wants the awake lock; what is wanted last is brought about.
  package func setAwake(_ isAwake: Bool, on reactor: isolated Reactor) {
    awakeLock.want(isAwake, on: reactor)
  }

  /// Measures what a commit that notifies takes now, and tells the handler: the host's take as long. It waits with them for
  /// the lock on the queue of notifications, and for the disk.
  package func measureNotifyCost(on reactor: isolated Reactor) {
    reactor.start {
      guard let cost = await self.proof.notifyCost(on: reactor) else { return }
      self.handler?.notifyCostMeasured(cost, on: reactor)
    }
  }

  /// Ends the session, and with it the awake lock.
  package func close(on reactor: isolated Reactor) async {
    awakeLock.close()
    await listener?.close(on: reactor)
    listener = nil
  }
}

/// Woken by a ``WakeListener``.
package protocol WakeHandler: AnyObject {
  /// Something may wait in the inbox: called for every notification that says nothing else, after every reconnect, and after
  /// the awake lock was let go, whenever something may have been missed.
  func databaseWoke(on reactor: isolated Reactor)

  func workIsDue(after wait: Duration, on reactor: isolated Reactor)

  /// Holds are to be released that a host's transaction could not release itself.
  func releasesQueued(on reactor: isolated Reactor)

  /// Another process has given up shards, or keeps the host from notifying.
  func shardsGivenUp(on reactor: isolated Reactor)

  func hearingChanged(_ isHearing: Bool, on reactor: isolated Reactor)

  /// What a commit that notifies took, as ``WakeListener/measureNotifyCost(on:)`` was asked.
  func notifyCostMeasured(_ cost: Duration, on reactor: isolated Reactor)
}

extension WakeListener: PostgresListenerHandler {
  /// A host transaction committed something.
  package func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor) {
    if notification.payload == Self.releasePayload {
      handler?.releasesQueued(on: reactor)
    } else if notification.payload == Self.shardsPayload {
      handler?.shardsGivenUp(on: reactor)
    } else if let wait = Self.wait(in: notification.payload) {
      handler?.workIsDue(after: wait, on: reactor)
    } else {
      handler?.databaseWoke(on: reactor)
    }
  }

  /// What `tacet.wake_at` says: `in` and microseconds. Every role can notify, so a longer wait than ``longestWait`` is none.
  static func wait(in payload: String) -> Duration? {
    guard payload.hasPrefix("in "), let microseconds = Int64(payload.dropFirst(3)), microseconds >= 0,
      .microseconds(microseconds) <= longestWait
    else { return nil }
    return .microseconds(microseconds)
  }

  /// The session came or went. What was committed while it was away is found by the look that a new one brings.
  package func listenerStateChanged(_ state: PostgresListener.State, on reactor: isolated Reactor) {
    awakeLock.sessionChanged()
    switch state {
    case .listening:
      status.state = .listening
      loggedFailure = nil
      logger.info("listening for notifications")
      reactor.start { await self.beginHearing(on: reactor) }
      awakeLock.bringAbout(on: reactor)
    case .lost(let error):
      status.state = .deaf(error.description)
      handler?.hearingChanged(false, on: reactor)
      guard loggedFailure != error.description else { return }
      loggedFailure = error.description
      logger.error("not listening; polling goes on", metadata: ["error": "\(error)"])
    }
  }

  /// The triggers begin to notify when they see that a service hears. What was committed before is looked for after that.
  private func beginHearing(on reactor: isolated Reactor) async {
    await proof.renewListening(on: reactor)
    handler?.hearingChanged(true, on: reactor)
    handler?.databaseWoke(on: reactor)
  }
}

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

/// Whether notifications arrive, readable from every reactor; one listener writes it.
package final class ListenStatus: Sendable {
  package enum State: Sendable, Equatable {
    case starting
    /// A notification was sent and arrived a moment ago.
    case listening
    /// Notifications do not arrive, and why.
    case deaf(String)
    /// The service does not listen, by its settings.
    case unused
  }

  private let current = Mutex(State.starting)
  private let unusedBecause: String?

  /// Nothing arrives yet.
  /// - Parameter reason: why nobody is going to listen, such as a setting and its value; nil when somebody is.
  package init(unusedBecause reason: String? = nil) {
    unusedBecause = reason
    current.withLock { $0 = reason == nil ? .starting : .unused }
  }

  package internal(set) var state: State {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  /// Whether all is as the settings want it.
  package var isReady: Bool { state == .listening || state == .unused }

  /// What an operator should know; nil while notifications arrive.
  package var detail: String? {
    switch state {
    case .starting: "no notification has arrived yet; polling goes on"
    case .listening: nil
    case .deaf(let reason): "polling goes on; \(reason)"
    case .unused: "not used, as \(unusedBecause ?? ""); webhooks and polling wake the service"
    }
  }
}
