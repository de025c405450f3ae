extension PreparedPush {
  func replacing(_ document: Document) -> PreparedPush {
    var push = self
    push.document = document
    return push
  }
}

extension PreparedPush.Document {
  /// The document without the event's words. Sound, category, thread and the names of ids stay; other data of the host does not,
  /// because it may hold words. A Live Activity's stays whole.
  func reduced(to words: ContentLevel.Words, _ event: ContentForms.Event) throws(PushRequestError) -> Self {
    switch self {
    case .liveActivity: return self
    case .background(let custom): return .background(custom.kept)
    case .alert(_, let alert):
      let sender = words == .sender ? event.sender : nil
      let payload = try AlertPayload(
        title: .verbatim(sender ?? event.notice), body: sender == nil ? nil : .verbatim(event.notice),
        sound: alert.sound,
        threadIdentifier: alert.threadIdentifier, category: alert.category,
        interruptionLevel: alert.interruptionLevel, relevanceScore: alert.relevanceScore,
        runsServiceExtension: words == .none, custom: alert.custom.kept)
      return .alert(PreparedAlert(payload, identifierName: PreparedPush.logIDName), payload)
    }
  }
}

extension AlertPayload {
  /// The same with an envelope in its data.
  func carrying(_ envelope: String) throws(PushRequestError) -> PreparedPush.Document {
    var custom = custom
    custom["sealed"] = .string(envelope)
    let payload = try AlertPayload(
      title: title, body: body, sound: sound, threadIdentifier: threadIdentifier, category: category,
      interruptionLevel: interruptionLevel, relevanceScore: relevanceScore, runsServiceExtension: true, custom: custom)
    return .alert(PreparedAlert(payload, identifierName: PreparedPush.logIDName), payload)
  }
}

extension PayloadObject {
  /// Names of ids, and of what apps need to report a slot.
  private static let keptNames: Set<String> = [
    "type", "message_id", "conversation_id", "subject_id", "surface_kind", "surface_id", "slot", "fire_date",
    "message_ids",
    "all_before", "badge",
  ]

  /// What every level sends.
  var kept: PayloadObject { only { Self.keptNames.contains($0) } }

  /// What only a sealed push brings.
  var withheld: PayloadObject { only { !Self.keptNames.contains($0) } }

  private func only(_ isWanted: (String) -> Bool) -> PayloadObject {
    var object: PayloadObject = [:]
    for (key, value) in members where isWanted(key) { object[key] = value }
    return object
  }
}
