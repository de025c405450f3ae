extension AlertPayload {
  /// The JSON document as sent: UTF-8, no spaces, keys always in the same order.
  public func encoded() -> [UInt8] {
    PreparedAlert(self).encoded(badge: badge)
  }

  /// The document up to the place of the badge, with the comma that precedes it.
  func appendHead(to json: inout JSONBytes) {
    json.append(literal: #"{"aps":{"alert":{"#)
    if !title.isEmpty {
      json.append(literal: #""title":"#)
      json.append(string: title)
    }
    if !body.isEmpty {
      json.append(literal: title.isEmpty ? #""body":"# : #","body":"#)
      json.append(string: body)
    }
    json.append(literal: "}")
  }

  /// The rest of the document after the badge.
  func appendTail(to json: inout JSONBytes) {
    append(sound, named: #","sound":"#, to: &json)
    append(threadIdentifier, named: #","thread-id":"#, to: &json)
    append(category, named: #","category":"#, to: &json)
    json.append(literal: "}")
    if !custom.members.isEmpty {
      json.append(literal: ",")
      json.append(membersOf: custom)
    }
    json.append(literal: "}")
  }

  private func append(_ text: String?, named name: StaticString, to json: inout JSONBytes) {
    guard let text else { return }
    json.append(literal: name)
    json.append(string: text)
  }
}
