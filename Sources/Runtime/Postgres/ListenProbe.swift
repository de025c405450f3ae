package import Reactors

/// Tests whether a listening session receives notifies: another session notifies a channel that only this listener uses.
///
/// An answered statement proves less, because a pooler in transaction mode answers but drops the LISTEN.
final class ListenProbe {
  /// How long the session has to answer when no probe could be sent.
  private static let answerLimit: Duration = .seconds(1)

  /// The listener's private channel.
  let channel = "tacet_probe_" + String(UInt64.random(in: .min ... .max), radix: 16)

  private weak var sender: (any PostgresProbeSender)?
  private var present: Attempt?

  init(sender: any PostgresProbeSender) {
    self.sender = sender
  }

  private final class Attempt {
    let token = String(UInt64.random(in: .min ... .max), radix: 16)
    let changed = Signal()
    var isHeard = false
    /// Whether the other session could send; nil while it sends.
    var sent: Result<Void, PostgresError>?
  }

  /// The result for a session that did not fail.
  enum Finding {
    case hears
    /// The session answers, but no notify could be sent.
    case unproven(PostgresError)
  }

  /// Sends a notify and waits for it.
  ///
  /// Runs no statement on the listening session meanwhile. A pooler in transaction mode might run it on the server session that
  /// listens, and deliver a notify that would not arrive otherwise.
  /// - Throws: ``PostgresError/Code/deaf`` when it was sent and did not arrive; otherwise why the session does not answer.
  func check(
    _ connection: PostgresConnection, within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Finding {
    let attempt = Attempt()
    present = attempt
    defer { present = nil }
    reactor.start { await self.send(attempt, on: reactor) }
    await awaitNews(of: attempt, from: connection, within: limit, on: reactor)
    if attempt.isHeard { return .hears }
    if case .success = attempt.sent, connection.isOpen { throw PostgresError(.deaf) }
    // Nothing was sent. Check whether the server is away or only the other sessions are busy.
    try await connection.checkAlive(within: Self.answerLimit, on: reactor)
    if case .failure(let error) = attempt.sent { return .unproven(error) }
    return .unproven(PostgresError(.timedOut, "the probe was not sent in time"))
  }

  /// Returns when the notify has arrived or cannot be sent, or at the limit.
  private func awaitNews(
    of attempt: Attempt, from connection: PostgresConnection, within limit: Duration, on reactor: isolated Reactor
  ) async {
    let deadline = Reactor.now + limit.clampedNanoseconds
    while !attempt.isHeard, connection.isOpen {
      if case .failure = attempt.sent { return }
      let now = Reactor.now
      guard now < deadline else { return }
      _ = await attempt.changed.wait(for: .nanoseconds(deadline - now), on: reactor)
    }
  }

  /// A notify has arrived on the probe's channel.
  func heard(_ token: String, on reactor: isolated Reactor) {
    guard let present, present.token == token else { return }
    present.isHeard = true
    present.changed.signal(on: reactor)
  }

  /// The session has ended, and with it the wait.
  func cancel(on reactor: isolated Reactor) {
    present?.changed.signal(on: reactor)
  }

  private func send(_ attempt: Attempt, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      guard let sender else { throw PostgresError(.notConnected, "nobody sends") }
      try await sender.sendProbe(attempt.token, to: channel, on: reactor)
      attempt.sent = .success(())
    } catch {
      attempt.sent = .failure(error)
    }
    attempt.changed.signal(on: reactor)
  }
}

/// Sends the probes of a ``PostgresListener``.
package protocol PostgresProbeSender: AnyObject {
  /// Notifies the channel from another session than the listener's.
  func sendProbe(_ token: String, to channel: String, on reactor: isolated Reactor) async throws(PostgresError)

  /// The listener has received the notify, and so receives all.
  func probeHeard(on reactor: isolated Reactor)
}
