internal import DequeModule
public import Reactors

// One timer per connection, armed for the earliest deadline; answers do not touch it, so a busy connection pays for a
// timer once per limit and not once per statement.
extension PostgresConnection: TimerHandler {
  /// A deadline has passed, unless the answers came in time.
  public func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    guard timer == deadlineTimer else { return }
    deadlineTimer = nil
    deadlineArmed = .max
    let now = Reactor.now
    giveUpWaiting(now: now)
    if let limit = silenceDeadline, now >= limit {
      return lose(Self.silent, on: reactor)
    }
    doubt(now: now, on: reactor)
    armDeadline(now: now, on: reactor)
  }

  /// When a caller that waits from now on gives up.
  func answerDeadline(_ limit: Duration?, now: UInt64) -> UInt64 {
    if let limit { return now + limit.clampedNanoseconds }
    return configuration.statementLimit == nil ? .max : now + configuration.answerLimit.clampedNanoseconds
  }

  /// Makes sure that a timer fires at the earliest deadline.
  func armDeadline(now: UInt64, on reactor: isolated Reactor) {
    guard let newest = pending.last else { return }
    // An armed timer is early enough for everybody but perhaps the newest; it looks at all when it fires.
    let deadline = deadlineTimer == nil ? earliestDeadline : newest.deadline
    guard deadline < deadlineArmed else { return }
    disarmDeadline(on: reactor)
    deadlineArmed = deadline
    deadlineTimer = reactor.schedule(after: .nanoseconds(deadline - min(now, deadline)), self)
  }

  func disarmDeadline(on reactor: isolated Reactor) {
    if let deadlineTimer { reactor.cancel(deadlineTimer) }
    deadlineTimer = nil
    deadlineArmed = .max
  }

  private var earliestDeadline: UInt64 {
    pending.reduce(min(silenceDeadline ?? .max, doubtDeadline ?? .max)) {
      $1.continuation == nil ? $0 : min($0, $1.deadline)
    }
  }

  /// When the server must have answered the oldest statement, because it should have cancelled it before.
  private var silenceDeadline: UInt64? {
    guard !pending.isEmpty, let limit = configuration.statementLimit else { return nil }
    return oldestSince + limit.clampedNanoseconds + configuration.silenceLimit.clampedNanoseconds
  }

  /// Statements keep their place in the pipeline; only their callers leave.
  private func giveUpWaiting(now: UInt64) {
    for index in pending.indices where pending[index].deadline <= now {
      let error = PostgresError(.timedOut).of(statement: pending[index].name)
      pending[index].continuation?.resume(returning: .failure(error))
      pending[index].continuation = nil
    }
  }
}
