extension AlertPayload {
  /// Room for a usual message push; a longer one grows the array once or twice.
  static let usualBytes = 512

  package func encoded() -> [UInt8] {
    var json = JSONBytes(reservingBytes: Self.usualBytes)
    appendHead(to: &json)
    if let badge {
      json.append(name: "badge")
      json.append(badge: badge)
    }
    appendTail(to: &json)
    return json.bytes
  }

  /// The document up to the place of the badge.
  func appendHead(to json: inout JSONBytes) {
    json.append(literal: #"{"aps":{"#)
    guard hasText else { return }
    json.append(member: "alert") { json in
      json.append(title, named: "title", key: "title-loc-key", arguments: "title-loc-args")
      json.append(subtitle, named: "subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
      json.append(body, named: "body", key: "loc-key", arguments: "loc-args")
      json.append(member: "launch-image", text: launchImage)
    }
  }

  func appendTail(to json: inout JSONBytes) {
    json.append(sound)
    json.append(member: "thread-id", text: threadIdentifier)
    json.append(member: "category", text: category)
    json.append(member: "interruption-level", text: interruptionLevel?.rawValue)
    json.append(member: "relevance-score", number: relevanceScore?.value)
    json.append(member: "target-content-id", text: targetContentIdentifier)
    json.append(member: "filter-criteria", text: filterCriteria)
    json.append(member: "mutable-content", flag: runsServiceExtension)
    json.append(member: "content-available", flag: wakesApp)
    json.append(literal: "}")
    json.append(membersOf: custom)
    json.append(literal: "}")
  }
}

extension JSONBytes {
  /// The number on an icon; APNs documents no negative ones.
  mutating func append(badge: Int) {
    append(integer: Int64(max(0, badge)))
  }

  fileprivate mutating func append(
    _ text: AlertText?, named name: StaticString, key keyName: StaticString, arguments argumentsName: StaticString
  ) {
    switch text {
    case .verbatim(let words): append(member: name, text: words)
    case .localized(let key, let arguments, _):
      append(member: keyName, text: key)
      append(member: argumentsName, texts: arguments)
    case nil: break
    }
  }

  fileprivate mutating func append(_ sound: AlertSound?) {
    switch sound {
    case .named(let name): append(member: "sound", text: name)
    case .critical(let name, let volume):
      append(member: "sound") { json in
        json.append(member: "critical", flag: true)
        json.append(member: "name", text: name)
        json.append(member: "volume", number: volume.value)
      }
    case nil: break
    }
  }
}
