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
