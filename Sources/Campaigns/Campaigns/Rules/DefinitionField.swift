internal import PushRules

/// A value of a definition with its path, so that a defect can name it.
struct DefinitionField {
  let value: JSONValue
  let path: String

  func defect(_ code: CampaignDefinitionDefect.Code, expected: String) -> CampaignDefinitionDefect {
    CampaignDefinitionDefect(code, at: path, expected: expected)
  }

  func object() throws(CampaignDefinitionDefect) -> [String: JSONValue] {
    guard case .object(let members) = value else { throw defect(.wrongType, expected: "an object") }
    return members
  }

  /// The members of an object. The alphabetically first unknown key is refused.
  func members(known keys: [String]) throws(CampaignDefinitionDefect) -> [String: JSONValue] {
    let members = try object()
    if let other = members.keys.filter({ !keys.contains($0) }).min() {
      throw field(other, .null).defect(.unknownKey, expected: Self.oneOf(keys))
    }
    return members
  }

  func member(_ key: String, of members: [String: JSONValue]) throws(CampaignDefinitionDefect) -> DefinitionField {
    guard let value = members[key] else { throw field(key, .null).defect(.missingKey, expected: "a value") }
    return field(key, value)
  }

  func field(_ key: String, _ value: JSONValue) -> DefinitionField {
    DefinitionField(value: value, path: path == "$" ? key : path + "." + key)
  }

  func elements() throws(CampaignDefinitionDefect) -> [DefinitionField] {
    guard case .array(let values) = value else { throw defect(.wrongType, expected: "an array") }
    return values.enumerated().map { DefinitionField(value: $0.element, path: "\(path)[\($0.offset)]") }
  }

  func string() throws(CampaignDefinitionDefect) -> String {
    guard case .string(let text) = value else { throw defect(.wrongType, expected: "a string") }
    return text
  }

  func word<Word: RawRepresentable & CaseIterable>() throws(CampaignDefinitionDefect) -> Word
  where Word.RawValue == String {
    guard let word = Word(rawValue: try string()) else {
      throw defect(.unknownWord, expected: Self.oneOf(Word.allCases.map(\.rawValue)))
    }
    return word
  }

  static func oneOf(_ words: [String]) -> String {
    "one of: " + words.joined(separator: ", ")
  }
}

extension DefinitionField {
  private static let localesMax = 50

  /// The member `localised`: the same text in other locales, `{"de": …}`; empty without one.
  func localised<Text>(
    _ members: [String: JSONValue], _ read: (DefinitionField) throws(CampaignDefinitionDefect) -> Text
  ) throws(CampaignDefinitionDefect) -> [LocaleTag: Text] {
    guard let value = members["localised"] else { return [:] }
    let field = field("localised", value)
    let texts = try field.object()
    guard texts.count <= Self.localesMax else {
      throw field.defect(.outOfRange, expected: "at most \(Self.localesMax) locales")
    }
    var localised: [LocaleTag: Text] = [:]
    for (name, value) in texts.sorted(by: { $0.key < $1.key }) {
      let member = field.field(name, value)
      guard let locale = LocaleTag(name) else {
        throw member.defect(.unknownKey, expected: "a language tag such as de or pt-BR")
      }
      if localised[locale] != nil { throw member.defect(.repeated, expected: "each locale once") }
      localised[locale] = try read(member)
    }
    return localised
  }
}

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

extension DefinitionField {
  /// A member whose key is the name of a value.
  func named(_ name: String, _ value: JSONValue) throws(CampaignDefinitionDefect) -> DefinitionField {
    let member = field(name, value)
    if !name.isTokenName { throw member.defect(.unknownKey, expected: "a name of a–z, 0–9 and _") }
    return member
  }

  func elements(_ counts: ClosedRange<Int>) throws(CampaignDefinitionDefect) -> [DefinitionField] {
    let elements = try elements()
    guard counts.contains(elements.count) else {
      throw defect(.outOfRange, expected: "\(counts.lowerBound) to \(counts.upperBound) elements")
    }
    return elements
  }

  func number() throws(CampaignDefinitionDefect) -> Double {
    guard case .number(let number) = value else { throw defect(.wrongType, expected: "a number") }
    return number
  }

  func flag() throws(CampaignDefinitionDefect) -> Bool {
    guard case .bool(let flag) = value else { throw defect(.wrongType, expected: "true or false") }
    return flag
  }

  /// A text on one line, as values are.
  func line(scalarsMax: Int) throws(CampaignDefinitionDefect) -> String {
    let text = try string()
    guard let line = SlotValues.line(text), line == text, text.unicodeScalars.count <= scalarsMax else {
      throw defect(.outOfRange, expected: "1 to \(scalarsMax) characters on one line")
    }
    return text
  }

  func identifier() throws(CampaignDefinitionDefect) -> String {
    let text = try string()
    let isIdentifier = text.utf8.allSatisfy { byte in
      byte.isASCIILetterOrDigit || "_-.".utf8.contains(byte)
    }
    guard isIdentifier, (1...64).contains(text.utf8.count) else {
      throw defect(.outOfRange, expected: "1 to 64 ASCII letters, digits, _, - or .")
    }
    return text
  }

  func template(scalarsMax: Int) throws(CampaignDefinitionDefect) -> SlotTemplate {
    let text = try string()
    guard text.unicodeScalars.count <= scalarsMax else {
      throw defect(.outOfRange, expected: "at most \(scalarsMax) characters")
    }
    do {
      return try SlotTemplate(text)
    } catch {
      throw defect(.invalidTemplate, expected: "text with closed {{names}} (\(error.rawValue))")
    }
  }
}

extension UInt8 {
  fileprivate var isASCIILetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}

extension DefinitionField {
  func tokenName() throws(CampaignDefinitionDefect) -> String {
    let name = try string()
    guard name.isTokenName else { throw defect(.outOfRange, expected: "a name of a–z, 0–9 and _") }
    return name
  }

  /// One to so many templates.
  func templates(_ countMax: Int, scalarsMax: Int) throws(CampaignDefinitionDefect) -> [SlotTemplate] {
    var templates: [SlotTemplate] = []
    for element in try elements(1...countMax) { templates.append(try element.template(scalarsMax: scalarsMax)) }
    return templates
  }
}
