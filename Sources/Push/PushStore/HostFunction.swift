/// The functions of the host contract that the claim calls, which a host may have replaced by its own.
public enum HostFunction: String, CaseIterable, Sendable {
  /// What is to be known of a message.
  case messageContext = "message_context"
  /// Who takes part in a conversation.
  case seenBy = "seen_by"
  /// The badge.
  case unreadCount = "unread_count"
  /// Where a user is reached.
  case deviceTokens = "device_tokens"
  /// A user's name.
  case profileName = "profile_name"
  /// What a user wants to be told.
  case recipientPreferences = "recipient_preferences"
  /// Whether a message mentions a user.
  case isMentioned = "is_mentioned"

  /// Arguments that name nobody: the function runs, finds no row and changes nothing.
  var arguments: String {
    switch self {
    case .messageContext, .seenBy, .unreadCount, .deviceTokens, .profileName: "null"
    case .isMentioned: "null, null"
    case .recipientPreferences: "null, 'message', null, clock_timestamp()"
    }
  }
}
