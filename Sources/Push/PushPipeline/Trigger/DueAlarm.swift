internal import Postgres
internal import PushStore
package import Reactors

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

// Trigger: the alarm goes off, and is set for the next moment.
extension DeliveryPipeline {
  /// Makes the pipeline look for work after a time, unless it looks earlier.
  package func expectWork(after wait: Duration, on reactor: isolated Reactor) {
    if !isDraining { alarm.arm(after: wait, on: reactor) }
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
