/// Why a push was held or skipped. Raw values are part of the interface: they appear in answers, in the log table and
/// as metric labels.
public enum DecisionReason: String, CaseIterable, Sendable {
  /// The recipient is looking at the conversation, or saw the message arrive.
  case userViewing = "user_viewing"
  /// The recipient has read the message.
  case alreadyRead = "already_read"
  /// The recipient has no device to send to.
  case noTokens = "no_tokens"
  /// Nobody but the sender takes part; said of an event, never of a recipient.
  case noRecipients = "no_recipients"
  /// The recipient wants no pushes of this kind.
  case optedOut = "opted_out"
  /// The recipient silenced the conversation or the sender.
  case muted
  /// The recipient wants to hear of mentions only, and is not mentioned.
  case notMentioned = "not_mentioned"
  /// It is quiet hours where the recipient is.
  case quietHours = "quiet_hours"
  /// The message is gone.
  case deleted
  /// The message was delayed so long that announcing it would be news of yesterday.
  case expired
}
