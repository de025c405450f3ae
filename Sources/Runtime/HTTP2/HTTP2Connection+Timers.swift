internal import DequeModule
public import Reactors

/// Deadlines and liveness, with two timers for the whole connection.
///
/// A timer for each request would cost a heap entry for each. Requests usually have the same time limit, so one timer
/// at the earliest deadline sees most requests already done when it fires, and moves on to the oldest that is left.
extension HTTP2Connection: TimerHandler {
  /// One of the two timers.
  public func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    if timer == deadlineTimer {
      expire(on: reactor)
    } else if timer == livenessTimer {
      livenessTimer = nil
      checkLiveness(on: reactor)
    }
  }

  /// Makes sure that deadlines are looked at by then.
  func checkDeadlines(by deadline: UInt64, on reactor: isolated Reactor) {
    guard deadline < deadlineCheck else { return }
    if let deadlineTimer { reactor.cancel(deadlineTimer) }
    deadlineCheck = deadline
    deadlineTimer = reactor.schedule(after: .until(deadline), self)
  }

  func cancelTimers(on reactor: isolated Reactor) {
    if let deadlineTimer { reactor.cancel(deadlineTimer) }
    if let livenessTimer { reactor.cancel(livenessTimer) }
    deadlineTimer = nil
    livenessTimer = nil
  }

  private func expire(on reactor: isolated Reactor) {
    let now = Reactor.now
    deadlineTimer = nil
    deadlineCheck = .max
    for stream in waiting where stream.deadline <= now { stream.finish(.notProcessed(.deadline)) }
    waiting.removeAll { $0.isFinished }
    for stream in streams.values where stream.deadline <= now && !stream.isFinished { cancel(stream) }
    let unfinished = streams.values.lazy.filter { !$0.isFinished }
    let next = (waiting.lazy.map(\.deadline).min(), unfinished.map(\.deadline).min())
    checkDeadlines(by: min(next.0 ?? .max, next.1 ?? .max), on: reactor)
    // A cancelled stream is closed when its RST_STREAM has been written; only then is there room for what waits.
    link.flushNow(on: reactor)
    link.flushAtTickEnd(on: reactor)
  }

  private func cancel(_ stream: ClientStream) {
    stream.finish(stream.isHanded ? .unknown(.deadline) : .notProcessed(.deadline))
    session.reset(stream.id, .cancel)
  }

  /// Acts on silence, and sets the timer if the one that runs is too late. One that is too early is left: it costs one
  /// look, where moving it with every request would cost each of them.
  func checkLiveness(on reactor: isolated Reactor) {
    switch liveness.check(now: Reactor.now, isBusy: !streams.isEmpty) {
    case .check(let time): checkLiveness(at: time, on: reactor)
    case .ping(let time):
      session.ping()
      link.flushAtTickEnd(on: reactor)
      checkLiveness(at: time, on: reactor)
    case .suspect(let time):
      checkLiveness(at: time, on: reactor)
      capacityIsUntold = true
      tellCapacity(on: reactor)
    case .giveUp: end(.unresponsive, on: reactor)
    }
  }

  private func checkLiveness(at time: UInt64, on reactor: isolated Reactor) {
    if let livenessTimer {
      if livenessCheck <= time { return }
      reactor.cancel(livenessTimer)
    }
    livenessCheck = time
    livenessTimer = reactor.schedule(after: .until(time), self)
  }
}

extension Duration {
  /// Whole nanoseconds, from 0 to about 146 years, so that sums with the clock do not overflow.
  var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(min(seconds, 4_611_686_018)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }

  /// From now to a time of the monotonic clock.
  static func until(_ time: UInt64) -> Duration {
    let now = Reactor.now
    return time > now ? .nanoseconds(Int64(clamping: time - now)) : .zero
  }
}
