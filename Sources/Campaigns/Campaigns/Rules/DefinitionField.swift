internal import PushRules

/// A value of a definition with its path, so that a defect can name it.
struct DefinitionField {
  let value: JSONValue
  let path: String

  func defect(_ code: CampaignDefinitionDefect.Code, expected: String) -> CampaignDefinitionDefect {
    CampaignDefinitionDefect(code: code, field: path, expected: expected)
  }

  static func oneOf(_ words: [String]) -> String { "one of: " + words.joined(separator: ", ") }

  func elements(_ counts: ClosedRange<Int> = 0...Int.max) throws(CampaignDefinitionDefect) -> [DefinitionField] {
    guard case .array(let values) = value else { throw defect(.wrongType, expected: "an array") }
    guard counts.contains(values.count) else {
      throw defect(.outOfRange, expected: "\(counts.lowerBound) to \(counts.upperBound) elements")
    }
    return values.enumerated().map { DefinitionField(value: $0.element, path: "\(path)[\($0.offset)]") }
  }

  func string() throws(CampaignDefinitionDefect) -> String {
    guard case .string(let text) = value else { throw defect(.wrongType, expected: "a string") }
    return text
  }

  func number() throws(CampaignDefinitionDefect) -> Double {
    guard case .number(let number) = value else { throw defect(.wrongType, expected: "a number") }
    return number
  }

  func flag() throws(CampaignDefinitionDefect) -> Bool {
    guard case .bool(let flag) = value else { throw defect(.wrongType, expected: "true or false") }
    return flag
  }

  func word<Word: RawRepresentable & CaseIterable>() throws(CampaignDefinitionDefect) -> Word
  where Word.RawValue == String {
    guard let word = Word(rawValue: try string()) else {
      throw defect(.unknownWord, expected: Self.oneOf(Word.allCases.map(\.rawValue)))
    }
    return word
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
    let isIdentifier = text.unicodeScalars.allSatisfy { scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".": true
      default: false
      }
    }
    guard isIdentifier, (1...64).contains(text.utf8.count) else {
      throw defect(.outOfRange, expected: "1 to 64 ASCII letters, digits, _, - or .")
    }
    return text
  }

  func tokenName() throws(CampaignDefinitionDefect) -> String {
    let name = try string()
    guard name.isTokenName else { throw defect(.outOfRange, expected: "a name of a–z, 0–9 and _") }
    return name
  }

  /// The field itself, a member whose key is the name of a value.
  func named(_ key: String) throws(CampaignDefinitionDefect) -> DefinitionField {
    if !key.isTokenName { throw defect(.unknownKey, expected: "a name of a–z, 0–9 and _") }
    return self
  }

  /// A text with names in double braces.
  func template(scalarsMax: Int) throws(CampaignDefinitionDefect) -> TextTemplate {
    let text = try string()
    guard text.unicodeScalars.count <= scalarsMax else {
      throw defect(.outOfRange, expected: "at most \(scalarsMax) characters")
    }
    do {
      return try TextTemplate(text, braces: 2)
    } catch {
      throw defect(.invalidTemplate, expected: "text with closed {{names}} (\(error.rawValue))")
    }
  }

  /// One to so many templates.
  func templates(_ countMax: Int, scalarsMax: Int) throws(CampaignDefinitionDefect) -> [TextTemplate] {
    try elements(1...countMax).map { element throws(CampaignDefinitionDefect) in
      try element.template(scalarsMax: scalarsMax)
    }
  }

  func object() throws(CampaignDefinitionDefect) -> DefinitionObject {
    guard case .object(let members) = value else { throw defect(.wrongType, expected: "an object") }
    return DefinitionObject(field: self, members: members)
  }

  /// An object with no other keys. The alphabetically first unknown one is refused.
  func object(known keys: [String]) throws(CampaignDefinitionDefect) -> DefinitionObject {
    let object = try object()
    if let other = object.members.keys.filter({ !keys.contains($0) }).min() {
      throw object.place(other).defect(.unknownKey, expected: Self.oneOf(keys))
    }
    return object
  }
}

struct DefinitionObject {
  let field: DefinitionField
  let members: [String: JSONValue]

  init(json: String, known keys: [String]) throws(CampaignDefinitionDefect) {
    guard let value = JSONValue(json) else {
      throw CampaignDefinitionDefect(code: .notJSON, field: "$", expected: "an object")
    }
    self = try DefinitionField(value: value, path: "$").object(known: keys)
  }

  fileprivate init(field: DefinitionField, members: [String: JSONValue]) {
    self.field = field
    self.members = members
  }

  /// A member, or null in the place where it would be.
  func place(_ key: String) -> DefinitionField {
    DefinitionField(value: members[key] ?? .null, path: field.path == "$" ? key : field.path + "." + key)
  }

  /// A member that may be missing.
  subscript(key: String) -> DefinitionField? { members[key].map { _ in place(key) } }

  func required(_ key: String) throws(CampaignDefinitionDefect) -> DefinitionField {
    guard let member = self[key] else { throw place(key).defect(.missingKey, expected: "a value") }
    return member
  }

  /// All members by key, in alphabetical order.
  var sorted: [(key: String, field: DefinitionField)] { members.keys.sorted().map { ($0, place($0)) } }

  private static let localesMax = 50

  /// The member `localised`: the same text in other locales, `{"de": …}`; empty without one.
  func localised<Text>(
    _ read: (DefinitionField) throws(CampaignDefinitionDefect) -> Text
  ) throws(CampaignDefinitionDefect) -> [LocaleTag: Text] {
    guard let field = self["localised"] else { return [:] }
    let texts = try field.object().sorted
    guard texts.count <= Self.localesMax else {
      throw field.defect(.outOfRange, expected: "at most \(Self.localesMax) locales")
    }
    var localised: [LocaleTag: Text] = [:]
    for (name, member) in texts {
      guard let locale = LocaleTag(name) else {
        throw member.defect(.unknownKey, expected: "a language tag such as de or pt-BR")
      }
      if localised[locale] != nil { throw member.defect(.repeated, expected: "each locale once") }
      localised[locale] = try read(member)
    }
    return localised
  }
}

/// A custom member of a push, which may have names: `{{name}}`.
enum PayloadValue: Equatable {
  case literal(String)
  /// It is left out of a push for which one of its names has no value.
  case template(TextTemplate)

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
    for (key, member) in try object().sorted {
      if keys.contains(key) {
        throw member.defect(.unknownKey, expected: "a key that the run does not fill itself")
      }
      let text = try member.string()
      bytes += key.utf8.count + text.utf8.count
      // Other texts may have single braces.
      payload[key] = text.contains("{{") ? .template(try member.template(scalarsMax: .max)) : .literal(text)
    }
    if bytes > Self.payloadBytesMax {
      throw defect(.outOfRange, expected: "at most \(Self.payloadBytesMax) bytes of keys and values")
    }
    return payload
  }

  /// The members of a presentation that every campaign may have.
  static let presentationKeys = [
    "badge", "collapse_id", "image_key", "image_url", "interruption_level", "relevance_score", "sound", "subtitle",
    "thread_id",
  ]

  /// How a push is shown. The database fills it, with the push's data as values; here its members and texts are checked.
  func checkPresentation(known keys: [String] = presentationKeys) throws(CampaignDefinitionDefect) {
    for (key, member) in try object(known: keys).sorted {
      switch key {
      case "relevance_score", "badge": _ = try member.number()
      default: _ = try member.template(scalarsMax: 256)
      }
    }
  }
}
