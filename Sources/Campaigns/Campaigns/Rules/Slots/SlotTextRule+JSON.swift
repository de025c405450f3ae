extension SlotTextRule {
  private static let titleScalarsMax = 256
  private static let bodyScalarsMax = 2_048
  private static let bodiesMax = 31

  init(field: DefinitionField) throws(CampaignDefinitionDefect) {
    try self.init(field: field, known: ["if", "title", "body", "localised"])
  }

  private init(field: DefinitionField, known: [String]) throws(CampaignDefinitionDefect) {
    let members = try field.members(known: known)
    conditions =
      try members["if"].map { value throws(CampaignDefinitionDefect) in
        try Self.conditions(field.field("if", value))
      } ?? [:]
    title = try field.member("title", of: members).template(scalarsMax: Self.titleScalarsMax)
    let body = try field.member("body", of: members)
    if case .array = body.value {
      bodies = try body.templates(Self.bodiesMax, scalarsMax: Self.bodyScalarsMax)
    } else {
      bodies = [try body.template(scalarsMax: Self.bodyScalarsMax)]
    }
    localised = try field.localised(members) { field throws(CampaignDefinitionDefect) in
      try Self(field: field, known: ["title", "body"])
    }
  }

  private static func conditions(
    _ field: DefinitionField
  ) throws(CampaignDefinitionDefect) -> [String: Condition] {
    var conditions: [String: Condition] = [:]
    for (name, value) in try field.object().sorted(by: { $0.key < $1.key }) {
      conditions[name] = try condition(field.named(name, value))
    }
    return conditions
  }

  private static func condition(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> Condition {
    switch field.value {
    case .string: return .equals(try field.line(scalarsMax: TextLimits.templateValueMax))
    case .object:
      let members = try field.members(known: ["above", "known"])
      if members["known"] != nil {
        let known = try field.member("known", of: members)
        guard try known.flag(), members.count == 1 else { throw known.defect(.outOfRange, expected: "true, alone") }
        return .known
      }
      return .above(try field.member("above", of: members).number())
    default: throw field.defect(.wrongType, expected: #"a string, {"above": number} or {"known": true}"#)
    }
  }
}

extension SlotPools {
  private static let poolsMax = 100
  /// The most entries of a pool: one for each day of a leap year.
  private static let entriesMax = 366
  private static let valueScalarsMax = 2_048

  init(pools: DefinitionField, name: DefinitionField) throws(CampaignDefinitionDefect) {
    let members = try pools.object()
    guard (1...Self.poolsMax).contains(members.count) else {
      throw pools.defect(.outOfRange, expected: "1 to \(Self.poolsMax) pools")
    }
    var entries: [String: [[String: String]]] = [:]
    for (key, value) in members.sorted(by: { $0.key < $1.key }) {
      let pool = pools.field(key, value)
      // The rendered name is one trimmed line, so another name could never be found.
      if SlotValues.line(key) != key { throw pool.defect(.outOfRange, expected: "a name on one line") }
      entries[key] = try Self.pool(pool)
    }
    self.entries = entries
    self.name = try name.template(scalarsMax: TextLimits.templateValueMax)
  }

  private static func pool(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> [[String: String]] {
    var pool: [[String: String]] = []
    for element in try field.elements(1...entriesMax) { pool.append(try entry(element)) }
    return pool
  }

  private static func entry(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> [String: String] {
    var entry: [String: String] = [:]
    for (name, value) in try field.object().sorted(by: { $0.key < $1.key }) {
      let member = try field.named(name, value)
      if SlotOccasion.names.contains(name) {
        throw member.defect(.unknownKey, expected: "a name that the slot does not fill itself")
      }
      entry[name] = try member.line(scalarsMax: valueScalarsMax)
    }
    if entry.isEmpty { throw field.defect(.outOfRange, expected: "at least one value") }
    return entry
  }
}

extension DefinitionField {
  /// A member whose key is the name of a value.
  fileprivate func named(_ name: String, _ value: JSONValue) throws(CampaignDefinitionDefect) -> DefinitionField {
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
