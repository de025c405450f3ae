internal import Reactors

/// Wakes the pipeline at the next moment something becomes due by itself: one timer, whatever the number of holds.
///
/// It only ever moves closer; when it goes off, the database is asked for the next moment. A moment that this process
/// does not know of, another replica's hold or a lease that runs out, is found by the poll, at most its longest step
/// late.
final class DueAlarm {
  /// The least wait, so that work that is due but locked by another replica is not looked at in a loop.
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
    let wanted = Reactor.now &+ max(wait, Self.shortest).clampedNanoseconds
    guard wanted < deadline else { return }
    if let timer { reactor.cancel(timer) }
    deadline = wanted
    timer = reactor.schedule(after: max(wait, Self.shortest), self)
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
