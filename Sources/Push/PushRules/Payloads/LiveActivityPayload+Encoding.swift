extension LiveActivityPayload {
  package func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: AlertPayload.usualBytes) { json in
      json.append(member: "aps") { appendMembers(to: &$0) }
    }
  }

  private func appendMembers(to json: inout JSONBytes) {
    json.append(member: "timestamp", integer: timestamp)
    json.append(member: "event", text: event.name)
    if case .start(let start) = event { json.append(start) }
    json.append(member: "content-state", object: contentState)
    if let alert { json.append(alert) }
    json.append(member: "stale-date", integer: staleDate)
    if case .end(let dismissalDate) = event { json.append(member: "dismissal-date", integer: dismissalDate) }
    json.append(member: "relevance-score", number: relevanceScore)
  }
}

extension LiveActivityPayload.Event {
  fileprivate var name: String {
    switch self {
    case .start: "start"
    case .update: "update"
    case .end: "end"
    }
  }
}

extension JSONBytes {
  fileprivate mutating func append(_ start: LiveActivityStart) {
    append(member: "attributes-type", text: start.attributesType)
    append(member: "attributes", object: start.attributes)
    if start.asksForToken { append(member: "input-push-token", flag: true) }
  }

  fileprivate mutating func append(_ alert: LiveActivityAlert) {
    append(member: "alert") { json in
      json.append(member: "title", alert.title)
      if let body = alert.body { json.append(member: "body", body) }
      json.append(member: "sound", text: alert.sound)
    }
  }

  /// A text, or an object with the key of its translation, unlike in an alert of its own.
  private mutating func append(member name: StaticString, _ text: AlertText) {
    switch text {
    case .verbatim(let words): append(member: name, text: words)
    case .localized(let key, let arguments, _):
      append(member: name) { json in
        json.append(member: "loc-key", text: key)
        json.append(member: "loc-args", texts: arguments)
      }
    }
  }

  /// An object, also an empty one.
  fileprivate mutating func append(member name: StaticString, object: PayloadObject) {
    append(name: name)
    append(object: object)
  }
}
