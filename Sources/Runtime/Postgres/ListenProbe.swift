public import Reactors

/// Finds out whether a listening session hears: another session notifies a channel that nobody else listens to.
///
/// A statement that is answered proves less: a pooler in transaction mode answers, and swallows the LISTEN.
final class ListenProbe {
  /// How long the session itself has for an answer, when no probe could be sent.
  static let answerLimit: Duration = .seconds(1)

  /// The channel, of this listener alone.
  let channel = "tacet_probe_" + String(UInt64.random(in: .min ... .max), radix: 16)

  private weak var sender: (any PostgresProbeSender)?
  private var present: Attempt?

  init(sender: any PostgresProbeSender) {
    self.sender = sender
  }

  /// What is known so far of one look.
  private final class Attempt {
    let token = String(UInt64.random(in: .min ... .max), radix: 16)
    let changed = Signal()
    var isHeard = false
    /// Whether the other session could send; nil while that is under way.
    var sent: Result<Void, PostgresError>?
  }

  /// What a session that did not fail showed.
  enum Finding {
    /// The notification came.
    case hears
    /// The session answers, but nobody could send it anything.
    case unproven(PostgresError)
  }

  /// Has a notification sent and listens for it.
  ///
  /// Nothing is asked of the listening session meanwhile: behind a pooler in transaction mode any statement may be lent
  /// the very server session that listens, and bring back a notification that would not have come by itself.
  /// - Throws: ``PostgresError/Code/deaf`` when it was sent and did not come; otherwise why the session does not answer.
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
    // Nothing was sent that could have been heard. Is the whole server away, or are only the other sessions busy?
    try await connection.checkAlive(within: Self.answerLimit, on: reactor)
    if case .failure(let error) = attempt.sent { return .unproven(error) }
    return .unproven(PostgresError(.timedOut, "the probe was not sent in time"))
  }

  /// Returns when the probe was heard, cannot be sent, or the time is over.
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

  /// A notification has come on the probe's channel.
  func heard(_ token: String, on reactor: isolated Reactor) {
    guard let present, present.token == token else { return }
    present.isHeard = true
    present.changed.signal(on: reactor)
  }

  /// The session has ended: there is nothing left to wait for.
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

/// Sends what a ``PostgresListener`` must hear, and is told when it did.
public protocol PostgresProbeSender: AnyObject {
  /// Notifies the channel, from another session than the listener's.
  func sendProbe(_ token: String, to channel: String, on reactor: isolated Reactor) async throws(PostgresError)

  /// The listener has heard what was sent, and so hears everything.
  func probeHeard(on reactor: isolated Reactor)
}
