/// A user's reads, by which the user's other devices clear messages and show the new badge.
package struct ReadSyncPush: PushKind {
  package static let name = "read_sync"
  package static let eventKind: String? = name

  /// What was read, the oldest first; at most the newest ninety.
  package let messageIDs: [HostID]
  /// Whether more was read before those.
  package let hasMore: Bool
  /// The conversation of all of them; nil when they are in several.
  package let conversationID: HostID?

  package init(messageIDs: [HostID], hasMore: Bool, in conversationID: HostID? = nil) {
    self.messageIDs = messageIDs
    self.hasMore = hasMore
    self.conversationID = conversationID
  }

  private struct Document: Decodable {
    let message_ids: [HostID]
    let has_more: Bool
  }

  /// Reads `message_ids` and `has_more`.
  package init(_ claimed: ClaimedContent) throws {
    let document: Document = try claimed.decode()
    self.init(messageIDs: document.message_ids, hasMore: document.has_more, in: claimed.surfaceID)
  }

  package var surfaceID: HostID? { conversationID }

  /// The bytes of ids that fit into a push: ninety uuids.
  private static let idBytesMax = 3510

  /// The newest ids that fit, the newest first. A character that is not plain takes six bytes.
  private var fittingIDs: [String] {
    var bytesLeft = Self.idBytesMax
    return Array(
      messageIDs.reversed().lazy.map(\.text).prefix { text in
        let isPlain = text.utf8.allSatisfy { (0x23...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
        bytesLeft -= 3 + text.utf8.count * (isPlain ? 1 : 6)
        return bytesLeft >= 0
      })
  }

  /// Wakes the app.
  ///
  /// `message_ids` has the newest first. `conversation_id` is absent for messages of several conversations. `all_before` is the
  /// newest when not all of one conversation fit: the user has read everything before it too.
  package func push(about subject: PushSubject) throws(PushRequestError) -> Push {
    let ids = fittingIDs
    var custom: PayloadObject = [
      "type": "read",
      "message_ids": .array(ids.map { .string($0) }),
      "badge": .null,
    ]
    if let conversationID {
      custom["conversation_id"] = .string(conversationID.text)
      if hasMore || ids.count < messageIDs.count { custom["all_before"] = messageIDs.last.map { .string($0.text) } }
    }
    return try Push(.background(custom), collapsingBy: subject.collapseText)
  }
}
