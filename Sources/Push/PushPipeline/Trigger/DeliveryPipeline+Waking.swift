internal import PushStore
package import Reactors

/// What made the service look for work; the ledger keeps it for each push.
package enum WakeCause: String, Sendable {
  case notify
  /// A webhook named a message.
  case webhook
  /// The poll found it: a wake-up was lost, or the host does not notify while the service is busy.
  case poll
  case start
  /// A hold or a retry became due.
  case due
  /// Another reactor of this process found more than it could take.
  case neighbour
}

// Trigger: what makes the pipeline look.
extension DeliveryPipeline {
  package func run(on reactor: isolated Reactor) async {
    while !isDraining {
      await look(on: reactor)
      guard !isDraining else { break }
      if await !pause(on: reactor) { rememberWake(.poll) }
    }
    isStopped = true
    alarm.cancel(on: reactor)
    slowEvents.cancel(on: reactor)
    holdReview.cancel(on: reactor)
    unreadMarker.cancel(on: reactor)
    idle.signal(on: reactor)
  }

  /// Makes the pipeline look for work now. Cheap, and safe to call too often.
  package func wake(_ cause: WakeCause, on reactor: isolated Reactor) {
    configuration.sleep?.stayAwake()
    if pacer.woken(by: cause, now: Reactor.now) { observer?.pipelineFoundMore(on: reactor) }
    rememberWake(cause)
    signal.signal(on: reactor)
  }

  /// The first cause since the last look names it.
  func rememberWake(_ newCause: WakeCause) {
    guard cause == .poll || wokenAt == 0 else { return }
    cause = newCause
    wokenAt = Reactor.now
  }
}

extension DeliveryPipeline: WakeHandler {
  /// The database has work, or may have.
  package func databaseWoke(on reactor: isolated Reactor) {
    wake(.notify, on: reactor)
  }

  package func workIsDue(after wait: Duration, on reactor: isolated Reactor) {
    expectWork(after: wait, on: reactor)
  }

  /// The database has put releases of holds into its queue. The rescuer makes those that one look cannot take.
  package func releasesQueued(on reactor: isolated Reactor) {
    hasQueuedReleases = true
    wake(.due, on: reactor)
  }

  /// The database notifies of new work, or has stopped doing so.
  package func hearingChanged(_ isHearing: Bool, on reactor: isolated Reactor) {
    pacer.schedule.isHearing = isHearing
    isClockSuspect = isClockSuspect || isHearing
  }

  package func notifyCostMeasured(_ cost: Duration, on reactor: isolated Reactor) {
    pacer.schedule.notifyCostMeasured(cost, now: Reactor.now)
  }
}
