internal import PushStore

/// Whether the host was told that a push is unread, in words.
struct UnreadSteps {
  let unread: UnreadFacts
  let sentAt: Int64?
  let now: Int64

  var step: EventExplanation.Step { EventExplanation.Step(.unread, at: min(unread.at, now), text: text) }

  private var text: String {
    switch unread.state {
    case .checkedLater:
      return "if it is not read or opened by \(TimeText.instant(unread.at)), push.unread goes to the host"
    case .waiting:
      guard unread.attempts > 0 else { return "\(unlooked): push.unread is about to be sent to the host" }
      return "\(unlooked): the host has not taken push.unread in \(CountWords.counted(unread.attempts, "attempt"))"
        + " (\(unread.error ?? "no answer yet")); the next is at \(TimeText.instant(unread.at))"
    case .taken:
      let status = unread.status.map { " with \($0)" } ?? ""
      return "\(unlooked): push.unread was sent to the host, taken\(status) at \(TimeText.instant(unread.at))"
    case .cancelled:
      let tried = unread.attempts == 0 ? "" : ", after \(CountWords.counted(unread.attempts, "attempt"))"
      return "no push.unread to the host\(tried): \(cause)"
    case .dead:
      return "\(unlooked): the host has not taken push.unread in \(CountWords.counted(unread.attempts, "attempt"))"
        + " (\(unread.error ?? "no answer")), and nobody tries again"
    }
  }

  private var unlooked: String {
    guard let sentAt = unread.sentAt ?? sentAt, unread.occurredAt > sentAt else { return "not read or opened" }
    return "not read or opened for \(TimeText.span(unread.occurredAt - sentAt))"
  }

  /// Why it was cancelled.
  private var cause: String {
    switch unread.reason {
    case "opened": "the push was opened"
    case "read": "the message was read"
    case "seen": "the user has looked since"
    case "deleted": "what it was about is deleted"
    case "cancelled": "it was cancelled"
    case "left": "the user is no recipient any more"
    case "user_gone": "the user is deleted"
    case "opted_out": "the user wants none"
    case "not_known": "a function of the host failed for an hour"
    case let reason: reason ?? "the reason was not kept"
    }
  }
}
