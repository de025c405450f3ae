internal import DequeModule
package import Reactors

// Deadlines and liveness, with two timers for the whole connection.
//
// A timer for each request would cost a heap entry for each. Requests usually have the same time limit, so when one timer at
// the earliest deadline fires, most requests are done. The timer then moves to the oldest that is left.
extension HTTP2Connection: TimerHandler {
  package func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    if timer == deadlineTimer {
      expire(on: reactor)
    } else if timer == livenessTimer {
      livenessTimer = nil
      checkLiveness(on: reactor)
    }
  }

  func checkDeadlines(by deadline: UInt64, on reactor: isolated Reactor) {
    guard deadline < deadlineCheck else { return }
    reactor.cancel(&deadlineTimer)
    deadlineCheck = deadline
    deadlineTimer = reactor.schedule(after: .until(deadline), self)
  }

  func cancelTimers(on reactor: isolated Reactor) {
    reactor.cancel(&deadlineTimer)
    reactor.cancel(&livenessTimer)
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
    // A cancelled stream closes when its RST_STREAM is written. Only then is there room for waiting requests.
    link.flushNow(on: reactor)
    link.flushAtTickEnd(on: reactor)
  }

  private func cancel(_ stream: ClientStream) {
    stream.finish(stream.isHanded ? .unknown(.deadline) : .notProcessed(.deadline))
    session.reset(stream.id, .cancel)
  }

  /// Acts on silence, and moves the timer if it is too late. An early timer stays: it costs one check, and moving it would cost
  /// every request.
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
  /// From now to a time of the monotonic clock.
  fileprivate static func until(_ time: UInt64) -> Duration {
    let now = Reactor.now
    return time > now ? .nanoseconds(Int64(clamping: time - now)) : .zero
  }
}
