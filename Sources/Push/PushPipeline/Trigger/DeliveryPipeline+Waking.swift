public import Postgres
public import PushStore
public import Reactors

/// What made the service look for work; the ledger keeps it for each push.
public enum WakeCause: String, Sendable {
  /// PostgreSQL notified.
  case notify
  /// A webhook named a message.
  case webhook
  /// The poll found it: a wake-up was lost, or the host does not notify while the service is busy.
  case poll
  /// The service had just started.
  case start
  /// A hold or a retry became due.
  case due
  /// Another reactor of this process found more than it could take.
  case neighbour
}

// Trigger: what makes the pipeline look.
extension DeliveryPipeline {
  /// The first cause since the last look names it.
  func rememberWake(_ newCause: WakeCause) {
    if newCause == .due { pacer.ask() }
    guard cause == .poll || wokenAt == 0 else { return }
    cause = newCause
    wokenAt = Reactor.now
  }

  /// Some work is due, and the next moment is unknown; the next look asks the database for it.
  func alarmWentOff(on reactor: isolated Reactor) {
    needsAlarm = true
    wake(.due, on: reactor)
  }

  func setAlarm(on reactor: isolated Reactor) async throws(PostgresError) {
    needsAlarm = false
    guard let wait = try await store.timeUntilNextDue(on: reactor), !isDraining else { return }
    alarm.arm(after: wait, on: reactor)
  }
}

extension DeliveryPipeline: PostgresPoolObserver {
  /// The server may have forgotten the latest records. They, and what waits to be recorded, go before all claims.
  public func databaseReturned(lostAt: UInt64, on reactor: isolated Reactor) {
    recorder.repeatRecent(lostAt: lostAt, on: reactor)
  }
}

extension DeliveryPipeline: WakeHandler {
  /// The database has work, or may have.
  public func databaseWoke(on reactor: isolated Reactor) {
    wake(.notify, on: reactor)
  }

  /// The database has put releases of holds into its queue. The rescuer makes those that one look cannot take.
  public func releasesQueued(on reactor: isolated Reactor) {
    hasQueuedReleases = true
    wake(.due, on: reactor)
  }

  /// The database notifies of new work, or has stopped doing so.
  public func hearingChanged(_ isHearing: Bool, on reactor: isolated Reactor) {
    pacer.schedule.isHearing = isHearing
    isClockSuspect = isClockSuspect || isHearing
  }

  /// The database's commits take this long when they notify.
  public func notifyCostMeasured(_ cost: Duration, on reactor: isolated Reactor) {
    pacer.schedule.notifyCostMeasured(cost, now: Reactor.now)
  }
}

/// Wakes the pipeline at the next moment at which work becomes due: one timer for any number of holds.
///
/// It only moves closer; when it goes off, the pipeline asks the database for the next moment. The poll finds moments that this
/// process does not know, such as another replica's hold or the end of a lease, at most its longest step late.
final class DueAlarm {
  /// The least wait, so that due work that another replica has locked is not looked for in a loop.
  private static let shortest = Duration.milliseconds(20)

  /// Weak, because the reactor keeps this alive as long as a timer is set.
  private weak var pipeline: DeliveryPipeline?
  private var timer: TimerToken?
  private var deadline = UInt64.max

  init(for pipeline: DeliveryPipeline) {
    self.pipeline = pipeline
  }

  /// Makes sure that the alarm goes off no later than this.
  func arm(after wait: Duration, on reactor: isolated Reactor) {
    let wait = max(wait, Self.shortest)
    let wanted = Reactor.now &+ wait.clampedNanoseconds
    guard wanted < deadline else { return }
    if let timer { reactor.cancel(timer) }
    deadline = wanted
    timer = reactor.schedule(after: wait, self)
  }

  func cancel(on reactor: isolated Reactor) {
    if let timer { reactor.cancel(timer) }
    timer = nil
    deadline = .max
  }
}

extension DueAlarm: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    self.timer = nil
    deadline = .max
    pipeline?.alarmWentOff(on: reactor)
  }
}
