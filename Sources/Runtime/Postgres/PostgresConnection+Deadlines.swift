internal import CLibpq
internal import DequeModule
internal import Logging
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

// A statement that takes long may be slow, or its server may be gone without a word. A second session tells them apart long
// before the statement's own limit, and what it finds is known to all sessions of the process.
extension PostgresConnection {
  /// How long the server has for its sign of life: enough to be taken for silent.
  private static let askLimit = ConnectRace.silence + ConnectRace.headStart

  /// How late an answer is when the server is asked for another sign of life; nil where statements have no limit. Where
  /// another host may have taken over, there is somewhere to go, and the question comes early.
  private var patience: UInt64? {
    configuration.statementLimit.map {
      (otherTargets.isEmpty ? max($0 / 5, .seconds(1)) : ConnectRace.headStart).clampedNanoseconds
    }
  }

  /// When to look at the server next.
  var doubtDeadline: UInt64? {
    guard !pending.isEmpty, let patience else { return nil }
    return max(oldestSince + patience, doubtedAt + patience / 4)
  }

  func doubt(now: UInt64, on reactor: isolated Reactor) {
    guard let doubtDeadline, now >= doubtDeadline, let target, let patience, isOpen else { return }
    doubtedAt = now
    guard !leaveIfSilent(target, on: reactor) else { return }
    let interval = max(.nanoseconds(Int64(2 * patience)), Self.askLimit)
    guard configuration.hosts.mayAsk(target, each: interval, now: now) else { return }
    reactor.start {
      await self.ask(target, since: now, on: reactor)
      _ = self.leaveIfSilent(target, on: reactor)
    }
  }

  /// Opens a session and ends it; any answer is one. What came of it is in the memory of hosts. Where another host takes the
  /// session that this one does not, all sessions of the process leave this one.
  private func ask(_ target: ConnectionTarget, since: UInt64, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      var parameters = try ConnectionParameters(configuration)
      if otherTargets.isEmpty { parameters = parameters.asking(for: "any") }
      parameters.targets = [target] + otherTargets
      let race = ConnectRace(parameters, memory: configuration.hosts, first: target)
      PQfinish(try await race.run(until: Reactor.now + Self.askLimit.clampedNanoseconds, on: reactor).handle)
      guard let finding = configuration.hosts.finding(on: target, since: since), finding >= .slow else { return }
      lose(Self.silent, on: reactor)
      configuration.hosts.leave(target)
    } catch {
      logger.debug("asked a server for a sign of life", metadata: ["error": "\(error.debugDescription)"])
    }
  }

  /// Ends the session when its server has been silent since it should have answered.
  private func leaveIfSilent(_ target: ConnectionTarget, on reactor: isolated Reactor) -> Bool {
    guard !pending.isEmpty, configuration.hosts.finding(on: target, since: oldestSince) == .silent else { return false }
    lose(Self.silent, on: reactor)
    configuration.hosts.leaveLater(target)
    return true
  }

  static let silent = PostgresError(.connectionLost, "the server is silent")
}
