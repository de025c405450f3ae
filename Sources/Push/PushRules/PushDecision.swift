/// What happens to one recipient's push now.
public enum PushDecision: Equatable, Sendable {
  /// It goes out at once.
  case send
  /// It waits at most this long, always more than zero, and is decided again then, or when new facts arrive.
  case hold(for: Duration, reason: DecisionReason)
  /// It is never sent.
  case skip(reason: DecisionReason)
}

/// Why a push was held or skipped. Raw values are part of the interface: they appear in answers, in the ledger and as metric
/// labels.
public enum DecisionReason: String, CaseIterable, Sendable {
  /// The recipient is looking at the conversation, or saw the message arrive.
  case userViewing = "user_viewing"
  /// The recipient has read the message.
  case alreadyRead = "already_read"
  /// The recipient has no device to send to.
  case noTokens = "no_tokens"
  /// Only the sender takes part; said of an event, never of a recipient.
  case noRecipients = "no_recipients"
  /// The recipient wants no pushes of this kind.
  case optedOut = "opted_out"
  /// The recipient silenced the conversation or the sender.
  case muted
  /// The recipient wants to hear of mentions only, and is not mentioned.
  case notMentioned = "not_mentioned"
  /// The recipient has had the one push a day of its cap group.
  case pushedToday = "pushed_today"
  /// It is quiet hours where the recipient is.
  case quietHours = "quiet_hours"
  /// The message is gone.
  case deleted
  /// The push was taken back before it was sent.
  case cancelled
  /// The message is older than a push may be.
  case expired
}
