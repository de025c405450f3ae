internal import PushRules

/// Why a definition cannot be used.
package struct DefinitionDefect: Error, Equatable, CustomStringConvertible {
  /// The kind of mistake. Raw values are stable.
  package enum Code: String, Sendable {
    case notJSON = "not_json"
    /// The key is unknown, or it is a payload key that the service itself sets.
    case unknownKey = "unknown_key"
    case missingKey = "missing_key"
    case wrongType = "wrong_type"
    case unknownWord = "unknown_word"
    /// The number, or the length, is outside its limits.
    case outOfRange = "out_of_range"
    case repeated
    case invalidTemplate = "invalid_template"
    /// There is no text for a push type that the campaign may send.
    case noText = "no_text"
  }

  let code: Code
  /// The place as a path of keys and indices: `texts[0].title`; `$` for the document itself.
  let field: String
  let expected: String

  /// For the author of the definition: `layers[1]: unknown_word, expected one of: event, pattern`.
  package var description: String { "\(field): \(code.rawValue), expected \(expected)" }
}

/// A value of a definition with its path, so that a defect can name it.
struct DefinitionField {
  let value: PayloadValue
  let path: String

  func defect(_ code: DefinitionDefect.Code, expected: String) -> DefinitionDefect {
    DefinitionDefect(code: code, field: path, expected: expected)
  }

  static func oneOf(_ words: [String]) -> String { "one of: " + words.joined(separator: ", ") }

  private func read<Value>(_ value: Value?, _ expected: String) throws -> Value {
    guard let value else { throw defect(.wrongType, expected: expected) }
    return value
  }

  func string() throws -> String { try read(value.text, "a string") }

  func number() throws -> Double { try read(value.number, "a number") }

  func flag() throws -> Bool { try read(value.flag, "true or false") }

  func elements(_ counts: ClosedRange<Int>) throws -> [DefinitionField] {
    let values = try read(value.elements, "an array")
    guard counts.contains(values.count) else {
      throw defect(.outOfRange, expected: "\(counts.lowerBound) to \(counts.upperBound) elements")
    }
    return values.enumerated().map { DefinitionField(value: $0.element, path: "\(path)[\($0.offset)]") }
  }

  func word<Word: RawRepresentable<String> & CaseIterable>() throws -> Word {
    try word(among: Word.allCases.map { ($0.rawValue, $0) })
  }

  func word<Value>(among known: [(word: String, value: Value)]) throws -> Value {
    let text = try string()
    guard let found = known.first(where: { $0.word == text }) else {
      throw defect(.unknownWord, expected: Self.oneOf(known.map(\.word)))
    }
    return found.value
  }

  /// The elements of a list, each once.
  func distinct(_ counts: ClosedRange<Int>, expected: String) throws -> [DefinitionField] {
    let elements = try elements(counts)
    try Self.check(areDistinct: elements, expected: expected)
    return elements
  }

  /// The elements of a list of objects, of which no two have the same value under one of the keys.
  func objects(_ counts: ClosedRange<Int>, known keys: [String], distinct: [String]) throws -> [DefinitionField] {
    let objects = try elements(counts).map { try $0.object(known: keys) }
    for key in distinct { try Self.check(areDistinct: objects.compactMap { $0[key] }, expected: "each \(key) once") }
    return objects
  }

  private static func check(areDistinct fields: [DefinitionField], expected: String) throws {
    for (place, field) in fields.enumerated() where fields[..<place].contains(where: { $0.value == field.value }) {
      throw field.defect(.repeated, expected: expected)
    }
  }

  /// A text on one line, as values are.
  func line(scalarsMax: Int) throws -> String {
    let text = try string()
    guard let line = CampaignValues.line(text), line == text, text.unicodeScalars.count <= scalarsMax else {
      throw defect(.outOfRange, expected: "1 to \(scalarsMax) characters on one line")
    }
    return text
  }

  func identifier() throws -> String {
    try text(/[A-Za-z0-9_.-]{1,64}/, expected: "1 to 64 ASCII letters, digits, _, - or .")
  }

  /// A text of a form, which is asked of its scalars.
  func text(_ form: Regex<Substring>, expected: String) throws -> String {
    let text = try string()
    guard text.wholeMatch(of: form.matchingSemantics(.unicodeScalar)) != nil else {
      throw defect(.outOfRange, expected: expected)
    }
    return text
  }

  func valueName() throws -> String { try text(String.valueName, expected: "a name of a–z, 0–9 and _") }

  /// The members of an object whose keys are names of values.
  func named<Value>(_ read: (String, DefinitionField) throws -> Value) throws -> [String: Value] {
    try members().reduce(into: [:]) { named, member in
      guard member.key.isValueName else {
        throw member.field.defect(.unknownKey, expected: "a name of a–z, 0–9 and _")
      }
      named[member.key] = try read(member.key, member.field)
    }
  }

  /// A text with names in braces, one or two on each side, which stand nowhere else.
  func template(scalarsMax: Int) throws -> TextTemplate {
    let text = try string()
    guard text.unicodeScalars.count <= scalarsMax else {
      throw defect(.outOfRange, expected: "at most \(scalarsMax) characters")
    }
    let template = TextTemplate(text.withSingleBraces)
    guard text.unicodeScalars.contains(where: { !$0.isBlank && !$0.isHidden }),
      !template.words.unicodeScalars.contains(where: { $0 == "{" || $0 == "}" }),
      template.names.allSatisfy(\.isValueName)
    else { throw defect(.invalidTemplate, expected: "visible text, with names of a–z, 0–9 and _ in braces") }
    return template
  }

  /// One template, or a list of one to so many.
  func templates(_ countMax: Int, scalarsMax: Int) throws -> [TextTemplate] {
    guard case .array = value else { return [try template(scalarsMax: scalarsMax)] }
    return try elements(1...countMax).map { try $0.template(scalarsMax: scalarsMax) }
  }
}

// Objects.
extension DefinitionField {
  /// Reads a whole document, which is an object.
  init(json: String) throws {
    guard let value = try? PayloadValue(json: Array(json.utf8), limits: .hostRow) else {
      throw DefinitionDefect(code: .notJSON, field: "$", expected: "an object")
    }
    self.init(value: value, path: "$")
    _ = try members()
  }

  /// The members in alphabetical order.
  func members() throws -> [(key: String, field: DefinitionField)] {
    try read(value.object, "an object").members.map { ($0.key, place($0.key)) }
  }

  /// This, an object with no other keys. The alphabetically first unknown one is refused.
  func object(known keys: [String]) throws -> DefinitionField {
    if let other = try members().first(where: { !keys.contains($0.key) }) {
      throw other.field.defect(.unknownKey, expected: Self.oneOf(keys))
    }
    return self
  }

  /// A member, or null in the place where it would be.
  func place(_ key: String) -> DefinitionField {
    DefinitionField(value: value.object?[key] ?? .null, path: path == "$" ? key : path + "." + key)
  }

  /// A member that may be missing.
  subscript(key: String) -> DefinitionField? { value.object?[key].map { _ in place(key) } }

  func required(_ key: String) throws -> DefinitionField {
    guard let member = self[key] else { throw place(key).defect(.missingKey, expected: "a value") }
    return member
  }

  private static let localesMax = 50

  /// The member `localised`: the same text in other locales, `{"de": …}`; empty without one.
  func localised<Text>(_ read: (DefinitionField) throws -> Text) throws -> [LocaleTag: Text] {
    guard let field = self["localised"] else { return [:] }
    let texts = try field.members()
    guard texts.count <= Self.localesMax else {
      throw field.defect(.outOfRange, expected: "at most \(Self.localesMax) locales")
    }
    return try texts.reduce(into: [:]) { localised, text in
      guard let locale = LocaleTag(text.key) else {
        throw text.field.defect(.unknownKey, expected: "a language tag such as de or pt-BR")
      }
      if localised[locale] != nil { throw text.field.defect(.repeated, expected: "each locale once") }
      localised[locale] = try read(text.field)
    }
  }
}

extension DefinitionField {
  /// The most bytes of all payload keys and values: a quarter of APNs' limit.
  private static let payloadBytesMax = 1_024

  /// Custom members of a push: strings, without the reserved keys. Braces that are around no name are kept.
  func payload(reserved keys: Set<String>) throws -> [String: TextTemplate] {
    var payload: [String: TextTemplate] = [:]
    var bytes = 0
    for (key, member) in try members() {
      if keys.contains(key) {
        throw member.defect(.unknownKey, expected: "a key that the service does not fill itself")
      }
      let text = try member.string()
      bytes += key.utf8.count + text.utf8.count
      payload[key] = TextTemplate(text.withSingleBraces, isName: \.isValueName)
    }
    if bytes > Self.payloadBytesMax {
      throw defect(.outOfRange, expected: "at most \(Self.payloadBytesMax) bytes of keys and values")
    }
    return payload
  }

  private static let presentationKeys = [
    "badge", "collapse_id", "image_key", "image_url", "interruption_level", "relevance_score", "sound", "subtitle",
    "thread_id",
  ]

  /// How a push is shown. The database fills it, with the push's data as values; here its members and texts are checked.
  /// - Parameter hasCategory: whether it may name a category; slots have theirs.
  func checkPresentation(hasCategory: Bool) throws {
    for (key, member) in try object(known: (hasCategory ? ["category"] : []) + Self.presentationKeys).members() {
      switch key {
      case "relevance_score", "badge": _ = try member.number()
      default: _ = try member.template(scalarsMax: 256)
      }
    }
  }
}

extension String {
  /// With `{name}` for `{{name}}`: both are names.
  fileprivate var withSingleBraces: String {
    let doubled = /\{\{([^{}]*)\}\}/.matchingSemantics(.unicodeScalar)
    return contains("{{") ? replacing(doubled) { "{\($0.1)}" } : self
  }

  fileprivate static var valueName: Regex<Substring> { /[a-z0-9_]+/ }

  /// Whether a value can have this name: lowercase ASCII letters, digits and `_`.
  var isValueName: Bool { wholeMatch(of: Self.valueName) != nil }
}
