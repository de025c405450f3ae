/// A custom member of a push, which may have tokens: `{{name}}`.
enum PayloadValue: Equatable {
  case literal(String)
  /// A text with tokens. It is left out of a push for which one of them has no value.
  case template(SlotTemplate)

  /// The text with its values; nil when one of them is missing.
  func filled(with values: [String: String]) -> String? {
    switch self {
    case .literal(let text): return text
    case .template(let template):
      let (text, missing) = template.filled(with: values)
      return missing == 0 ? text : nil
    }
  }
}

extension DefinitionField {
  /// The most bytes of all payload keys and values: a quarter of APNs' limit.
  private static let payloadBytesMax = 1_024

  /// Custom members of a push: strings, without the reserved keys.
  func payload(reserved keys: Set<String>) throws(CampaignDefinitionDefect) -> [String: PayloadValue] {
    var payload: [String: PayloadValue] = [:]
    var bytes = 0
    for (key, value) in try object().sorted(by: { $0.key < $1.key }) {
      let attribute = field(key, value)
      if keys.contains(key) {
        throw attribute.defect(.unknownKey, expected: "a key that the run does not fill itself")
      }
      let text = try attribute.string()
      bytes += key.utf8.count + text.utf8.count
      // Other texts may have single braces.
      payload[key] = text.contains("{{") ? .template(try attribute.template(scalarsMax: .max)) : .literal(text)
    }
    if bytes > Self.payloadBytesMax {
      throw defect(.outOfRange, expected: "at most \(Self.payloadBytesMax) bytes of keys and values")
    }
    return payload
  }

  /// How a push is shown. The database fills it, with the push's data as values; here its members and texts are checked.
  func checkPresentation(known keys: [String]) throws(CampaignDefinitionDefect) {
    for (key, value) in try members(known: keys).sorted(by: { $0.key < $1.key }) {
      let member = field(key, value)
      switch key {
      case "relevance_score", "badge": _ = try member.number()
      default: _ = try member.template(scalarsMax: 256)
      }
    }
  }

  /// The members of a presentation that every campaign may have.
  static let presentationKeys = [
    "badge", "collapse_id", "image_key", "image_url", "interruption_level", "relevance_score", "sound", "subtitle",
    "thread_id",
  ]
}
