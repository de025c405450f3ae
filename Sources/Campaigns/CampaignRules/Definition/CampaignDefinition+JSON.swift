extension CampaignDefinition {
  private static let keys = [
    "layers", "occasion", "composer", "templates", "payload",
  ]

  /// Reads a definition.
  ///
  /// ```json
  /// {"layers": ["event", "pattern", "re_engagement"],
  ///  "composer": {"kind": "model", "on_failure": "skip"},
  ///  "templates": {"event_based": [{"title": "Your {event}", "body": "It is {when}. How do you feel about it?"}]},
  ///  "payload": {"action": "new_conversation"}}
  /// ```
  ///
  /// `layers` and `composer` are required, and `occasion` with the layer of that name. `templates` and `payload` are
  /// empty by default.
  /// - Throws: the first ``CampaignDefinitionDefect``, in the order of the keys above.
  public init(json: String) throws(CampaignDefinitionDefect) {
    guard let value = JSONValue(json) else { throw CampaignDefinitionDefect(.notJSON, at: "$", expected: "an object") }
    let root = DefinitionField(value: value, path: "$")
    let members = try root.members(known: Self.keys)
    func optional(_ key: String) -> DefinitionField? { members[key].map { root.field(key, $0) } }

    let layers = try Self.layers(root.member("layers", of: members))
    let occasion = try Self.occasion(optional("occasion"), for: layers)
    let composer = try Self.composer(root.member("composer", of: members))
    let templates = try optional("templates").map(Self.templates) ?? [:]
    try Self.requireTemplates(templates, of: layers, for: composer)
    self.init(
      layers: layers,
      occasion: occasion,
      composer: composer,
      templates: templates,
      payload: try optional("payload").map(Self.payload) ?? [:])
  }
}

extension CampaignDefinition {
  /// Keys that the run itself sets in every payload.
  private static let reservedPayloadKeys: Set<String> = [
    "aps", "domain", "push_type", "push_log_id", "subject_id", "type",
  ]
  /// The most bytes of all payload keys and values: a quarter of APNs' limit.
  private static let payloadBytesMax = 1_024

  private static func occasion(
    _ field: DefinitionField?, for layers: [CampaignLayer]
  ) throws(CampaignDefinitionDefect) -> String? {
    let isNeeded = layers.contains(.occasion)
    guard let field else {
      if isNeeded { throw CampaignDefinitionDefect(.missingKey, at: "occasion", expected: "a value") }
      return nil
    }
    guard isNeeded, let occasion = TextLimits.theme(try field.string()), occasion == (try field.string()) else {
      throw field.defect(.outOfRange, expected: "1 to \(TextLimits.themeMax) characters, with the layer occasion")
    }
    return occasion
  }

  private static func layers(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> [CampaignLayer] {
    var layers: [CampaignLayer] = []
    for element in try field.elements() {
      let layer: CampaignLayer = try element.word()
      if layers.contains(layer) { throw element.defect(.repeated, expected: "each layer once") }
      layers.append(layer)
    }
    if layers.isEmpty { throw field.defect(.outOfRange, expected: "at least one layer") }
    return layers
  }

  private static func composer(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> CampaignComposer {
    let kinds = ["model", "template"]
    let kind = try field.member("kind", of: try field.object())
    switch try kind.string() {
    case "model":
      let members = try field.members(known: ["kind", "on_failure"])
      return .model(failure: try field.member("on_failure", of: members).word())
    case "template":
      _ = try field.members(known: ["kind"])
      return .template
    default: throw kind.defect(.unknownWord, expected: DefinitionField.oneOf(kinds))
    }
  }

  private static func templates(
    _ field: DefinitionField
  ) throws(CampaignDefinitionDefect) -> [CampaignPushType: TemplatePool] {
    let members = try field.members(known: CampaignPushType.allCases.map(\.rawValue))
    var pools: [CampaignPushType: TemplatePool] = [:]
    for type in CampaignPushType.allCases {
      guard let value = members[type.rawValue] else { continue }
      var templates: [CampaignTemplate] = []
      for element in try field.field(type.rawValue, value).elements() { templates.append(try template(element)) }
      pools[type] = TemplatePool(templates)
    }
    return pools
  }

  private static func template(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> CampaignTemplate {
    let members = try field.members(known: ["title", "body"])
    let title = try field.member("title", of: members).string()
    let body = try field.member("body", of: members).string()
    do {
      return try CampaignTemplate(title: title, body: body)
    } catch {
      throw field.defect(.invalidTemplate, expected: "title and body with closed {names} (\(error.rawValue))")
    }
  }

  /// Refuses a campaign that lacks a template it may use.
  private static func requireTemplates(
    _ templates: [CampaignPushType: TemplatePool], of layers: [CampaignLayer], for composer: CampaignComposer
  ) throws(CampaignDefinitionDefect) {
    guard composer.usesTemplates else { return }
    for type in layers.map(\.pushType) where templates[type]?.templates.isEmpty ?? true {
      throw CampaignDefinitionDefect(.noTemplate, at: "templates." + type.rawValue, expected: "at least one template")
    }
  }

  private static func payload(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> [String: String] {
    var payload: [String: String] = [:]
    for (key, value) in try field.object().sorted(by: { $0.key < $1.key }) {
      let attribute = field.field(key, value)
      if reservedPayloadKeys.contains(key) {
        throw attribute.defect(.unknownKey, expected: "a key that the run does not fill itself")
      }
      payload[key] = try attribute.string()
    }
    if payload.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count }) > payloadBytesMax {
      throw field.defect(.outOfRange, expected: "at most \(payloadBytesMax) bytes of keys and values")
    }
    return payload
  }
}

/// A value of a definition with its path, so that a defect can name it.
private struct DefinitionField {
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
