package struct MessagePush: PushContent {
  /// As `tacet.push_kinds` would name it; claims name it without asking.
  package static let name = "message"
  package static let eventKind: String? = name
  package static let words = KindWords(event: "message", surface: "the conversation")

  package let conversationID: HostID
  /// The sender's name as the host shows it; nil when unknown.
  package let senderName: String?
  /// The text; empty for a message without text.
  package let text: String

}

extension MessagePush {
  /// Takes the columns.
  /// - Throws: `DecodingError` without a conversation.
  package init(_ claimed: ClaimedContent) throws {
    guard let conversationID = claimed.surfaceID else {
      throw DecodingError.valueNotFound(HostID.self, .init(codingPath: [], debugDescription: "no conversation"))
    }
    self.init(conversationID: conversationID, senderName: claimed.senderName, text: claimed.text ?? "")
  }

  package var surfaceID: HostID? { conversationID }

  /// The sender, on one line.
  package var sender: String? {
    let name = MessagePreview(senderName: senderName, text: "").name
    return name.isEmpty ? nil : name
  }

  /// Its sender, its beginning, and the ids that the app opens it by.
  package func push(about subject: PushSubject) throws(PushRequestError) -> PreparedPush {
    try PreparedPush(alert(about: subject, sound: AlertPayload.defaultSound), collapsingBy: subject.collapseText)
  }

  /// The same as a silent update of the notification of its burst.
  /// - Parameters:
  ///   - first: the message that sounded, whose notification it replaces.
  ///   - others: that there are more messages than this one, such as `+4 more`; nil without any.
  package func update(
    of first: PushSubject, others: String?, about subject: PushSubject
  ) throws(PushRequestError) -> PreparedPush {
    let alert = try alert(about: subject, subtitle: others, interruptionLevel: .passive)
    return try PreparedPush(alert, collapsingBy: first.collapseText)
  }

  private func alert(
    about subject: PushSubject, subtitle: String? = nil, sound: String? = nil,
    interruptionLevel: InterruptionLevel? = nil
  ) throws(PushRequestError) -> AlertPayload {
    let preview = MessagePreview(senderName: senderName, text: text)
    let (conversation, message) = (conversationID.text, subject.id.text)
    return try AlertPayload(
      title: .verbatim(preview.title), subtitle: subtitle.map { .verbatim($0) }, body: .verbatim(preview.body),
      sound: sound, threadIdentifier: conversation, interruptionLevel: interruptionLevel,
      custom: [
        "type": .string(subject.kind), "conversation_id": .string(conversation), "message_id": .string(message),
      ])
  }
}
