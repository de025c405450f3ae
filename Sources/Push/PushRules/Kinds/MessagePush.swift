package struct MessagePush: PushKind {
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
  package func push(about subject: PushSubject) throws(PushRequestError) -> Push {
    try Push(.alert(alert(about: subject, sound: AlertPayload.defaultSound)), collapsingBy: subject.collapseText)
  }

  package func update(of first: PushSubject, sounds: Bool, more: Int, in words: TacetWords) -> (any PushContent)? {
    BurstUpdate(message: self, first: first, sounds: sounds, more: more, words: words)
  }

  fileprivate func alert(
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

/// The newest message of a burst, in the burst's notification.
struct BurstUpdate: PushContent {
  let message: MessagePush
  /// The message that began it.
  let first: PushSubject
  let sounds: Bool
  /// Messages of the burst besides this one.
  let more: Int
  let words: TacetWords
  /// That of "+4 more"; nil for English.
  var locale: LocaleTag?

  var sender: String? { message.sender }

  var isLocalised: Bool { more > 0 }

  func choice(for locale: LocaleTag?) -> LocaleChoice? { words.choice(of: .more, for: locale) }

  func inLocale(_ locale: LocaleTag) -> BurstUpdate {
    var update = self
    update.locale = locale
    return update
  }

  func push(about subject: PushSubject) throws(PushRequestError) -> Push {
    let others = more > 0 ? words.text(.more, count: more, in: locale) : nil
    let alert =
      sounds
      ? try message.alert(about: subject, subtitle: others, sound: AlertPayload.defaultSound)
      : try message.alert(about: subject, subtitle: others, interruptionLevel: .passive)
    return try Push(.alert(alert), collapsingBy: first.collapseText)
  }
}
