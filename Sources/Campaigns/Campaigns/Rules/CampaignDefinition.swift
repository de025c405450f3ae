internal import PushRules

/// A campaign as data: its layers, its composer and the payload of its pushes. The database holds its audience and its
/// schedule.
package struct CampaignDefinition: Equatable, Sendable {
  /// Its layers in the order of evaluation; at least one, each once.
  package let layers: [CampaignLayer]
  /// The subject of ``OccasionLayer``, such as `evening reflection`; set exactly when the layer is used.
  package let occasion: String?
  package let composer: CampaignComposer
  /// Its templates by push type. If the composer may use a template, every layer's type has at least one.
  package let templates: [CampaignPushType: TemplatePool]
  /// Custom members of every push. The run itself sets others, such as `domain` and `push_type`.
  let payload: [String: PayloadValue]

  /// The custom members of a push, sorted by key.
  package func payload(with values: SlotValues) -> [(key: String, value: String)] {
    payload.compactMap { key, value in value.filled(with: values.lines).map { (key, $0) } }.sorted { $0.key < $1.key }
  }

  package func evaluation(of material: CampaignMaterial) -> LayerEvaluation {
    LayerEvaluation(
      of: material, layers: layers, settings: LayerSettings(occasion: OccasionLayer(occasion: occasion)))
  }
}

package enum CampaignComposer: Equatable, Sendable {
  /// What happens when the language model fails, is too late, or breaks a rule. Definitions use the raw values.
  package enum Failure: String, CaseIterable, Sendable {
    /// Nothing is sent: silence is better than a generic text.
    case skip
    case template
  }

  /// A language model. Without a task it is the coach, who writes about what a layer has found.
  case model(failure: Failure, task: ModelTask? = nil)
  case template

  package var usesTemplates: Bool {
    if case .model(.skip, _) = self { false } else { true }
  }
}

package struct CampaignDefinitionDefect: Error, Equatable, Sendable {
  /// The kind of mistake. Raw values are stable.
  package enum Code: String, CaseIterable, Sendable {
    case notJSON = "not_json"
    /// The key is unknown, or it is a payload key that the run itself sets.
    case unknownKey = "unknown_key"
    case missingKey = "missing_key"
    case wrongType = "wrong_type"
    case unknownWord = "unknown_word"
    /// The number, or the length, is outside its limits.
    case outOfRange = "out_of_range"
    case repeated
    case invalidTemplate = "invalid_template"
    /// A push type that the campaign may send has no template.
    case noTemplate = "no_template"
  }

  package let code: Code
  /// The place as a path of keys and indices: `templates.event_based[0].title`; `$` for the document itself.
  package let field: String
  package let expected: String

  init(_ code: Code, at field: String, expected: String) {
    self.code = code
    self.field = field
    self.expected = expected
  }
}

extension CampaignDefinitionDefect: CustomStringConvertible {
  /// For the author of the definition: `composer.kind: unknown_word, expected one of: model, template`.
  package var description: String {
    "\(field): \(code.rawValue), expected \(expected)"
  }
}

extension CampaignDefinition {
  private static let keys = [
    "layers", "occasion", "composer", "templates", "payload", "presentation",
  ]

  /// Reads a definition.
  ///
  /// ```json
  /// {"layers": ["event", "pattern", "re_engagement"],
  ///  "composer": {"kind": "model", "on_failure": "skip"},
  ///  "templates": {"event_based": [{"title": "Your {event}", "body": "It is {when}. How do you feel about it?",
  ///                                 "localised": {"de": {"title": "{event}", "body": "Wie geht es dir damit?"}}}]},
  ///  "payload": {"action": "new_conversation"},
  ///  "presentation": {"category": "CHECK_IN", "collapse_id": "check_in"}}
  /// ```
  ///
  /// `layers` and `composer` are required, and `occasion` with the layer of that name. The others are empty by default. A
  /// composer may have a ``ModelTask``.
  /// - Throws: the first ``CampaignDefinitionDefect``, in the order of the keys above.
  package init(json: String) throws(CampaignDefinitionDefect) {
    guard let value = JSONValue(json) else { throw CampaignDefinitionDefect(.notJSON, at: "$", expected: "an object") }
    let root = DefinitionField(value: value, path: "$")
    let members = try root.members(known: Self.keys)
    func optional(_ key: String) -> DefinitionField? { members[key].map { root.field(key, $0) } }

    let layers = try Self.layers(root.member("layers", of: members))
    let occasion = try Self.occasion(optional("occasion"), for: layers)
    let composer = try Self.composer(root.member("composer", of: members))
    let templates = try optional("templates").map(Self.templates) ?? [:]
    try Self.requireTemplates(templates, of: layers, for: composer)
    try optional("presentation")?.checkPresentation(known: ["category"] + DefinitionField.presentationKeys)
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
  static let reservedPayloadKeys: Set<String> = [
    "aps", "domain", "push_type", "push_log_id", "subject_id", "type",
  ]

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
      let members = try field.members(known: ["kind", "on_failure"] + ModelTask.keys)
      let failure: CampaignComposer.Failure = try field.member("on_failure", of: members).word()
      let hasTask = ModelTask.keys.contains { members[$0] != nil }
      return .model(failure: failure, task: hasTask ? try ModelTask(field: field, members: members) : nil)
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
    let members = try field.members(known: ["title", "body", "localised"])
    let title = try field.member("title", of: members).string()
    let body = try field.member("body", of: members).string()
    let localised = try field.localised(members) { field throws(CampaignDefinitionDefect) in
      _ = try field.members(known: ["title", "body"])
      return try template(field)
    }
    do {
      return try CampaignTemplate(title: title, body: body, localised: localised)
    } catch {
      throw field.defect(.invalidTemplate, expected: "title and body with closed {names} (\(error.rawValue))")
    }
  }

  private static func requireTemplates(
    _ templates: [CampaignPushType: TemplatePool], of layers: [CampaignLayer], for composer: CampaignComposer
  ) throws(CampaignDefinitionDefect) {
    guard composer.usesTemplates else { return }
    for type in layers.map(\.pushType) where templates[type]?.templates.isEmpty ?? true {
      throw CampaignDefinitionDefect(.noTemplate, at: "templates." + type.rawValue, expected: "at least one template")
    }
  }

  private static func payload(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> [String: PayloadValue] {
    try field.payload(reserved: reservedPayloadKeys)
  }
}
