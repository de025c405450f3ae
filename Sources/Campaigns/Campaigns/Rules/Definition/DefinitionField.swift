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
