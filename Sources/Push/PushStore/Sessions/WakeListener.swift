package import Logging
package import Postgres
package import Reactors

/// Hears the database's notifies, and tells it when it needs to send none: while its session holds the ``AwakeLock``.
///
/// That it hears is proved again and again, as ``ListenProof`` says. Each proof is recorded in the database, whose triggers
/// notify only as long as a service hears.
package final class WakeListener {
  /// What `tacet.release_holds` says with a notification when it has queued releases.
  private static let releasePayload = "release"

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

  func hearingChanged(_ isHearing: Bool, on reactor: isolated Reactor)

  /// What a commit that notifies took, as ``WakeListener/measureNotifyCost(on:)`` was asked.
  func notifyCostMeasured(_ cost: Duration, on reactor: isolated Reactor)
}

extension WakeListener: PostgresListenerHandler {
  /// A host transaction committed something.
  package func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor) {
    if notification.payload == Self.releasePayload {
      handler?.releasesQueued(on: reactor)
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
