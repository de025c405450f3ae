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

  var call: StatementCall {
    switch self {
    case .messageContext: .callMessageContext
    case .seenBy: .callSeenBy
    case .unreadCount: .callUnreadCount
    case .deviceTokens: .callDeviceTokens
    case .profileName: .callProfileName
    case .recipientPreferences: .callRecipientPreferences
    case .isMentioned: .callIsMentioned
    }
  }
}
