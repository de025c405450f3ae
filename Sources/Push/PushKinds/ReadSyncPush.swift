public import APNSCore
public import FoundationEssentials

/// A user's reads, by which the user's other devices clear messages and show the new badge.
public struct ReadSyncPush: PushContent {
  /// As `tacet.push_kinds` names it.
  public static let name = "read_sync"
  /// The kind of its events.
  public static let eventKind: String? = name

  /// What was read, the oldest first; at most the newest ninety.
  public let messageIDs: [UUID]
  /// Whether more was read before those.
  public let hasMore: Bool
  /// The conversation of all of them; nil when they are in several.
  public let conversationID: UUID?

  /// Describes reads.
  public init(messageIDs: [UUID], hasMore: Bool, in conversationID: UUID? = nil) {
    self.messageIDs = messageIDs
    self.hasMore = hasMore
    self.conversationID = conversationID
  }

  private struct Document: Decodable {
    let message_ids: [UUID]
    let has_more: Bool
  }

  /// Reads `message_ids` and `has_more`.
  public init(_ claimed: ClaimedContent) throws {
    let document: Document = try claimed.decode()
    self.init(messageIDs: document.message_ids, hasMore: document.has_more, in: claimed.surfaceID)
  }

  /// The conversation, if there is only one.
  public var surfaceID: UUID? { conversationID }

  /// Wakes the app. Ninety ids are 3.5 KB of the four that APNs takes.
  ///
  /// `message_ids` has the newest first. `conversation_id` is absent for messages of several conversations. `all_before` is the
  /// newest when not all of one conversation fit: the user has read everything before it too.
  public func push(about subject: PushSubject) throws(PushRequestError) -> PreparedPush {
    var custom: PayloadObject = [
      "type": "read",
      "message_ids": .array(messageIDs.reversed().map { .string($0.lowercased) }),
      "badge": .null,
    ]
    if let conversationID {
      custom["conversation_id"] = .string(conversationID.lowercased)
      if hasMore { custom["all_before"] = messageIDs.last.map { .string($0.lowercased) } }
    }
    return try PreparedPush(waking: custom, collapsingBy: subject.id.lowercased)
  }
}
