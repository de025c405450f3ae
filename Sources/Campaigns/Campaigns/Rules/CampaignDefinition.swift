internal import PushRules

/// A campaign as data: its layers, its composer and the payload of its pushes. The database holds its audience and its
/// schedule.
package struct CampaignDefinition: Equatable, Sendable {
  /// Its layers in the order of evaluation; at least one, each once.
  let layers: [CampaignLayer]
  /// The subject of ``OccasionLayer``, such as `evening reflection`; set exactly when the layer is used.
  let occasion: String?
  let composer: CampaignComposer
  /// Its templates by push type. If the composer may use a template, every layer's type has at least one.
  let templates: [CampaignPushType: TemplatePool]
  /// Custom members of every push. The run itself sets others, such as `domain` and `push_type`.
  let payload: [String: PayloadValue]

  /// The custom members of a push, sorted by key.
  func payload(with values: SlotValues) -> [(key: String, value: String)] {
    payload.compactMap { key, value in value.filled(with: values.lines).map { (key, $0) } }.sorted { $0.key < $1.key }
  }

  func evaluation(of material: CampaignMaterial) -> LayerEvaluation {
    LayerEvaluation(
      of: material, layers: layers, settings: LayerSettings(occasion: OccasionLayer(occasion: occasion)))
  }
}

enum CampaignComposer: Equatable {
  /// What happens when the language model fails, is too late, or breaks a rule. Definitions use the raw values.
  enum Failure: String, CaseIterable {
    /// Nothing is sent: silence is better than a generic text.
    case skip
    case template
  }

  /// A language model. Without a task it is the coach, who writes about what a layer has found.
  case model(failure: Failure, task: ModelTask? = nil)
  case template

  var usesTemplates: Bool {
    if case .model(.skip, _) = self { false } else { true }
  }
}

package struct CampaignDefinitionDefect: Error, Equatable, CustomStringConvertible {
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

  let code: Code
  /// The place as a path of keys and indices: `templates.event_based[0].title`; `$` for the document itself.
  let field: String
  let expected: String

  /// For the author of the definition: `composer.kind: unknown_word, expected one of: model, template`.
  package var description: String { "\(field): \(code.rawValue), expected \(expected)" }
}

extension CampaignDefinition {
  private static let keys = ["layers", "occasion", "composer", "templates", "payload", "presentation"]

  /// Keys that the run itself sets in every payload.
  static let reservedPayloadKeys: Set<String> = ["aps", "domain", "push_type", "push_log_id", "subject_id", "type"]

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
    let root = try DefinitionObject(json: json, known: Self.keys)
    layers = try Self.layers(root.required("layers"))
    occasion = try Self.occasion(root["occasion"], for: layers)
    composer = try Self.composer(root.required("composer"))
    templates = try root["templates"].map(Self.templates) ?? [:]
    if composer.usesTemplates {
      for type in layers.map(\.pushType) where templates[type]?.templates.isEmpty ?? true {
        throw CampaignDefinitionDefect(
          code: .noTemplate, field: "templates." + type.rawValue, expected: "at least one template")
      }
    }
    try root["presentation"]?.checkPresentation(known: ["category"] + DefinitionField.presentationKeys)
    payload = try root["payload"]?.payload(reserved: Self.reservedPayloadKeys) ?? [:]
  }

  private static func occasion(
    _ field: DefinitionField?, for layers: [CampaignLayer]
  ) throws(CampaignDefinitionDefect) -> String? {
    let isNeeded = layers.contains(.occasion)
    guard let field else {
      if isNeeded { throw CampaignDefinitionDefect(code: .missingKey, field: "occasion", expected: "a value") }
      return nil
    }
    let text = try field.string()
    guard isNeeded, let occasion = TextLimits.theme(text), occasion == text else {
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
    let kind = try field.object().required("kind")
    switch try kind.string() {
    case "model":
      let object = try field.object(known: ["kind", "on_failure"] + ModelTask.keys)
      let failure: CampaignComposer.Failure = try object.required("on_failure").word()
      let hasTask = ModelTask.keys.contains { object.members[$0] != nil }
      return .model(failure: failure, task: hasTask ? try ModelTask(object) : nil)
    case "template":
      _ = try field.object(known: ["kind"])
      return .template
    default: throw kind.defect(.unknownWord, expected: DefinitionField.oneOf(["model", "template"]))
    }
  }

  private static func templates(
    _ field: DefinitionField
  ) throws(CampaignDefinitionDefect) -> [CampaignPushType: TemplatePool] {
    let object = try field.object(known: CampaignPushType.allCases.map(\.rawValue))
    var pools: [CampaignPushType: TemplatePool] = [:]
    for type in CampaignPushType.allCases {
      guard let templates = object[type.rawValue] else { continue }
      pools[type] = TemplatePool(try templates.elements().map(template))
    }
    return pools
  }

  private static func template(_ field: DefinitionField) throws(CampaignDefinitionDefect) -> CampaignTemplate {
    let object = try field.object(known: ["title", "body", "localised"])
    let title = try object.required("title").string()
    let body = try object.required("body").string()
    let localised = try object.localised { field throws(CampaignDefinitionDefect) in
      _ = try field.object(known: ["title", "body"])
      return try template(field)
    }
    do {
      return try CampaignTemplate(title: title, body: body, localised: localised)
    } catch {
      throw field.defect(.invalidTemplate, expected: "title and body with closed {names} (\(error.rawValue))")
    }
  }
}
