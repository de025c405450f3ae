public import APNSCore
internal import PushRules

/// A chat message.
public struct MessagePush: PushContent {
  /// As `tacet.push_kinds` would name it; claims name it without asking.
  public static let name = "message"
  /// The kind of its events.
  public static let eventKind: String? = name
  /// A message, and its conversation.
  public static let words = KindWords(event: "message", surface: "the conversation")

  /// The conversation it belongs to.
  public let conversationID: HostID
  /// The sender's name as the host shows it; nil when unknown.
  public let senderName: String?
  /// The text; empty for a message without text.
  public let text: String

  /// Describes a message.
  public init(conversationID: HostID, senderName: String?, text: String) {
    self.conversationID = conversationID
    self.senderName = senderName
    self.text = text
  }

  /// Takes the columns.
  /// - Throws: `DecodingError` without a conversation.
  public init(_ claimed: ClaimedContent) throws {
    guard let conversationID = claimed.surfaceID else {
      throw DecodingError.valueNotFound(HostID.self, .init(codingPath: [], debugDescription: "no conversation"))
    }
    self.init(conversationID: conversationID, senderName: claimed.senderName, text: claimed.text ?? "")
  }

  /// The conversation.
  public var surfaceID: HostID? { conversationID }

  /// Its sender, its beginning, and the ids that the app opens it by.
  public func push(about subject: PushSubject) throws(PushRequestError) -> PreparedPush {
    let preview = MessagePreview(senderName: senderName, text: text)
    let (conversation, message) = (conversationID.text, subject.id.text)
    let payload = try AlertPayload(
      title: .verbatim(preview.title), body: .verbatim(preview.body), sound: .default, threadIdentifier: conversation,
      custom: [
        "type": .string(subject.kind), "conversation_id": .string(conversation), "message_id": .string(message),
      ])
    return try PreparedPush(payload, collapsingBy: subject.collapseText)
  }
}
