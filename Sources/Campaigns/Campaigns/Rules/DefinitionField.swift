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

  func elements(_ counts: ClosedRange<Int> = 0...Int.max) throws -> [DefinitionField] {
    guard case .array(let values) = value else { throw defect(.wrongType, expected: "an array") }
    guard counts.contains(values.count) else {
      throw defect(.outOfRange, expected: "\(counts.lowerBound) to \(counts.upperBound) elements")
    }
    return values.enumerated().map { DefinitionField(value: $0.element, path: "\(path)[\($0.offset)]") }
  }

  func string() throws -> String {
    guard case .string(let text) = value else { throw defect(.wrongType, expected: "a string") }
    return text
  }

  func number() throws -> Double {
    switch value {
    case .number(let number): return number.value
    case .integer(let number): return Double(number)
    default: throw defect(.wrongType, expected: "a number")
    }
  }

  func flag() throws -> Bool {
    guard case .boolean(let flag) = value else { throw defect(.wrongType, expected: "true or false") }
    return flag
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
  func distinct<Value: Equatable>(
    _ counts: ClosedRange<Int>, expected: String, _ read: (DefinitionField) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    for element in try elements(counts) {
      let value = try read(element)
      if values.contains(value) { throw element.defect(.repeated, expected: expected) }
      values.append(value)
    }
    return values
  }

  /// The elements of a list of objects, of which no two have the same value under one of the keys.
  func objects(
    _ counts: ClosedRange<Int>, known keys: [String], distinct: [String]
  ) throws -> [DefinitionObject] {
    let objects = try elements(counts).map { try $0.object(known: keys) }
    for (place, object) in objects.enumerated() {
      for key in distinct {
        guard let member = object[key] else { continue }
        if objects[..<place].contains(where: { $0[key]?.value == member.value }) {
          throw member.defect(.repeated, expected: "each \(key) once")
        }
      }
    }
    return objects
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

  func valueName() throws -> String {
    let name = try string()
    guard name.isValueName else { throw defect(.outOfRange, expected: "a name of a–z, 0–9 and _") }
    return name
  }

  /// The members of an object whose keys are names of values, in alphabetical order.
  func named() throws -> [(key: String, field: DefinitionField)] {
    let members = try object().sorted
    for (key, member) in members where !key.isValueName {
      throw member.defect(.unknownKey, expected: "a name of a–z, 0–9 and _")
    }
    return members
  }

  /// A text with names in braces, one or two on each side.
  func template(scalarsMax: Int) throws -> TextTemplate {
    let text = try string()
    guard text.unicodeScalars.count <= scalarsMax else {
      throw defect(.outOfRange, expected: "at most \(scalarsMax) characters")
    }
    do {
      return try TextTemplate(ofDefinition: text)
    } catch {
      throw defect(.invalidTemplate, expected: "text with closed {names} (\(error.rawValue))")
    }
  }

  /// One template, or a list of one to so many.
  func templates(_ countMax: Int, scalarsMax: Int) throws -> [TextTemplate] {
    guard case .array = value else { return [try template(scalarsMax: scalarsMax)] }
    return try elements(1...countMax).map { try $0.template(scalarsMax: scalarsMax) }
  }

  func object() throws -> DefinitionObject {
    guard case .object(let object) = value else { throw defect(.wrongType, expected: "an object") }
    let members = object.members.map { ($0.key, $0.value) }
    // Different bytes may be equal texts.
    return DefinitionObject(field: self, members: Dictionary(members) { first, _ in first })
  }

  /// An object with no other keys. The alphabetically first unknown one is refused.
  func object(known keys: [String]) throws -> DefinitionObject {
    let object = try object()
    if let other = object.members.keys.filter({ !keys.contains($0) }).min() {
      throw object.place(other).defect(.unknownKey, expected: Self.oneOf(keys))
    }
    return object
  }
}

struct DefinitionObject {
  let field: DefinitionField
  let members: [String: PayloadValue]

  init(json: String) throws {
    guard let value = try? PayloadValue(json: Array(json.utf8), limits: .hostRow) else {
      throw DefinitionDefect(code: .notJSON, field: "$", expected: "an object")
    }
    self = try DefinitionField(value: value, path: "$").object()
  }

  fileprivate init(field: DefinitionField, members: [String: PayloadValue]) {
    self.field = field
    self.members = members
  }

  /// A member, or null in the place where it would be.
  func place(_ key: String) -> DefinitionField {
    DefinitionField(value: members[key] ?? .null, path: field.path == "$" ? key : field.path + "." + key)
  }

  /// A member that may be missing.
  subscript(key: String) -> DefinitionField? { members[key].map { _ in place(key) } }

  func required(_ key: String) throws -> DefinitionField {
    guard let member = self[key] else { throw place(key).defect(.missingKey, expected: "a value") }
    return member
  }

  /// All members by key, in alphabetical order.
  var sorted: [(key: String, field: DefinitionField)] { members.keys.sorted().map { ($0, place($0)) } }

  private static let localesMax = 50

  /// The member `localised`: the same text in other locales, `{"de": …}`; empty without one.
  func localised<Text>(_ read: (DefinitionField) throws -> Text) throws -> [LocaleTag: Text] {
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

extension DefinitionField {
  /// The most bytes of all payload keys and values: a quarter of APNs' limit.
  private static let payloadBytesMax = 1_024

  /// Custom members of a push: strings, without the reserved keys. Braces that are around no name are kept.
  func payload(reserved keys: Set<String>) throws -> [String: TextTemplate] {
    var payload: [String: TextTemplate] = [:]
    var bytes = 0
    for (key, member) in try object().sorted {
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
    for (key, member) in try object(known: (hasCategory ? ["category"] : []) + Self.presentationKeys).sorted {
      switch key {
      case "relevance_score", "badge": _ = try member.number()
      default: _ = try member.template(scalarsMax: 256)
      }
    }
  }
}

/// Why a text is not a template. Raw values are stable.
enum TemplateDefect: String, Error, CaseIterable {
  /// It has no visible character.
  case empty = "template_empty"
  /// A brace is not closed, not opened, or inside another name's.
  case unmatchedBrace = "template_unmatched_brace"
  /// A name is empty or has characters other than `a`–`z`, digits and `_`.
  case invalidName = "template_invalid_name"
}

extension TextTemplate {
  /// Reads a text in which braces are only allowed around a name.
  init(ofDefinition source: String) throws(TemplateDefect) {
    if source.unicodeScalars.allSatisfy({ $0.isBlank || $0.isHidden }) { throw .empty }
    let source = source.withSingleBraces
    if source.contains("{}") { throw .invalidName }
    self.init(source)
    if words.unicodeScalars.contains(where: { $0 == "{" || $0 == "}" }) { throw .unmatchedBrace }
    if !names.allSatisfy(\.isValueName) { throw .invalidName }
  }
}

extension String {
  /// With `{name}` for `{{name}}`: both are names.
  fileprivate var withSingleBraces: String {
    let doubled = /\{\{([^{}]*)\}\}/.matchingSemantics(.unicodeScalar)
    return contains("{{") ? replacing(doubled) { "{\($0.1)}" } : self
  }

  /// Whether a value can have this name: lowercase ASCII letters, digits and `_`.
  var isValueName: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: false
        }
      }
  }
}
