internal import CLibpq
internal import DequeModule
internal import Logging
internal import Reactors

// A statement that takes long may be slow, or its server may be gone without a word. A second session tells them apart long
// before the statement's own limit, and what it finds is known to all sessions of the process.
extension PostgresConnection {
  /// How late an answer is when the server is asked for another sign of life; nil where statements have no limit.
  private var patience: UInt64? {
    configuration.statementLimit.map { max($0 / 5, .seconds(1)).clampedNanoseconds }
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
    guard configuration.hosts.mayAsk(target, each: .nanoseconds(Int64(2 * patience)), now: now) else { return }
    reactor.start {
      await self.ask(target, for: patience + patience / 4, on: reactor)
      _ = self.leaveIfSilent(target, on: reactor)
    }
  }

  /// Opens a session and ends it; any answer is one. What came of it stands in the memory of hosts.
  private func ask(_ target: ConnectionTarget, for limit: UInt64, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      var parameters = try ConnectionParameters(configuration).asking(for: "any")
      parameters.targets = [target]
      let deadline = Reactor.now + limit
      PQfinish(try await ConnectRace(parameters, memory: configuration.hosts).run(until: deadline, on: reactor).handle)
    } catch {
      logger.debug("asked a server for a sign of life", metadata: ["error": "\(error.debugDescription)"])
    }
  }

  /// Ends the session when its server has been silent since it should have answered.
  private func leaveIfSilent(_ target: ConnectionTarget, on reactor: isolated Reactor) -> Bool {
    guard !pending.isEmpty, configuration.hosts.finding(on: target, since: oldestSince) == .silent else { return false }
    lose(PostgresError(.connectionLost, "the server is silent"), on: reactor)
    return true
  }
}
