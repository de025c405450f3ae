internal import CLibpq
internal import DequeModule
internal import Logging
package import Reactors

// One timer per connection, armed for the earliest deadline. Answers do not touch it, so a busy connection pays for a timer once
// per limit and not once per statement.
extension PostgresConnection: TimerHandler {
  /// The armed deadline has passed. The answers may have come in time.
  package func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
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

  /// When a caller that begins to wait now gives up.
  func answerDeadline(_ limit: Duration?, now: UInt64) -> UInt64 {
    if let limit { return now + limit.clampedNanoseconds }
    return configuration.statementLimit == nil ? .max : now + configuration.answerLimit.clampedNanoseconds
  }

  /// Ensures that a timer fires at the earliest deadline.
  func armDeadline(now: UInt64, on reactor: isolated Reactor) {
    guard let newest = pending.last else { return }
    // An armed timer is early enough for all statements except perhaps the newest. When it fires it checks all.
    let deadline = deadlineTimer == nil ? earliestDeadline : newest.deadline
    guard deadline < deadlineArmed else { return }
    disarmDeadline(on: reactor)
    deadlineArmed = deadline
    deadlineTimer = reactor.schedule(after: .nanoseconds(deadline - min(now, deadline)), self)
  }

  func disarmDeadline(on reactor: isolated Reactor) {
    reactor.cancel(&deadlineTimer)
    deadlineArmed = .max
  }

  private var earliestDeadline: UInt64 {
    pending.reduce(min(silenceDeadline ?? .max, doubtDeadline ?? .max)) {
      $1.continuation == nil ? $0 : min($0, $1.deadline)
    }
  }

  /// When the server is silent: it should have cancelled the oldest statement before.
  private var silenceDeadline: UInt64? {
    guard !pending.isEmpty, let limit = configuration.statementLimit else { return nil }
    return oldestSince + limit.clampedNanoseconds + configuration.silenceLimit.clampedNanoseconds
  }

  /// Statements keep their place in the pipeline when their callers give up.
  private func giveUpWaiting(now: UInt64) {
    for index in pending.indices where pending[index].deadline <= now {
      let error = PostgresError(.timedOut).of(statement: pending[index].name)
      pending[index].continuation?.resume(returning: .failure(error))
      pending[index].continuation = nil
    }
  }
}

// A statement without an answer may be slow, or its server may have vanished. A second session tells them apart long before the
// statement's limit, and all sessions of the process share its finding.
extension PostgresConnection {
  /// How long the server has to accept a second session: long enough to be found silent.
  private static let askLimit = ConnectRace.silence + ConnectRace.headStart

  /// How late an answer is when the server is checked; nil if statements have no limit. Short if there are other hosts, of which
  /// one may have taken over.
  private var patience: UInt64? {
    configuration.statementLimit.map {
      (otherTargets.isEmpty ? max($0 / 5, .seconds(1)) : ConnectRace.headStart).clampedNanoseconds
    }
  }

  /// When to check the server next.
  var doubtDeadline: UInt64? {
    guard !pending.isEmpty, let patience else { return nil }
    return max(oldestSince + patience, doubtedAt + patience / 4)
  }

  private func doubt(now: UInt64, on reactor: isolated Reactor) {
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

  /// Opens a session and ends it. Any answer counts, and the finding is in the memory of hosts. If another host accepts the
  /// session and this one does not, all sessions of the process leave this host.
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

  /// Ends the session if its server has been silent since the oldest statement.
  private func leaveIfSilent(_ target: ConnectionTarget, on reactor: isolated Reactor) -> Bool {
    guard !pending.isEmpty, configuration.hosts.finding(on: target, since: oldestSince) == .silent else { return false }
    lose(Self.silent, on: reactor)
    configuration.hosts.leaveLater(target)
    return true
  }

  static let silent = PostgresError(.connectionLost, "the server is silent")
}
