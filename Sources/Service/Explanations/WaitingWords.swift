internal import PushStore

/// What an event waits for that nobody has decided yet.
struct WaitingWords {
  let event: EventFacts

  /// A service that was seen within this time runs; it says so every few seconds.
  private static let seenWithin: Int64 = 60_000_000

  private var noun: String { DecisionWords.event(of: event.kind) }

  /// A clause, with the end of its sentence.
  func clause(_ inbox: InboxFacts) -> String {
    let age = TimeText.span(max(0, event.now - inbox.enqueuedAt))
    if let error = inbox.error { return "the \(noun) could not be looked at, \(age) after its commit: \(error)." }
    if inbox.isClaimed, inbox.availableAt > event.now {
      return "claim \(inbox.attempts) of the \(noun) is at work, or has died; the next may begin in"
        + " \(TimeText.span(inbox.availableAt - event.now))."
    }
    return "the \(noun) has been in the inbox for \(age), and nobody has claimed it; \(service)"
  }

  /// Whether anybody is there to claim: a clause, with the end of its sentence.
  var service: String {
    guard let seenAt = event.serviceSeenAt else { return "no service was ever seen on this database: is it running?" }
    let age = event.now - seenAt
    return age > Self.seenWithin
      ? "no service has been seen for \(TimeText.span(age)): is it running?"
      : "a service was seen \(TimeText.span(age)) ago, and should take it up at once."
  }
}
