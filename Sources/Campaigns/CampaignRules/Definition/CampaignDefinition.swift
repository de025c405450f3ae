/// A campaign as data: what it looks for, who writes, and what its pushes carry. Whom it concerns and how often is the
/// database's part.
public struct CampaignDefinition: Equatable, Sendable {
  /// Its layers in the order of looking; at least one, none twice.
  public let layers: [CampaignLayer]
  /// What ``OccasionLayer`` writes about, such as `evening reflection`; there when the layer is.
  public let occasion: String?
  /// Who writes.
  public let composer: CampaignComposer
  /// Its templates by push type; when the composer may come to one, none is empty for the type of any layer.
  public let templates: [CampaignPushType: TemplatePool]
  /// What every push carries beside what the run puts in: `aps`, `domain`, `push_type` and `push_log_id` are not among
  /// them.
  public let payload: [String: String]

  /// The limits of its layers.
  public var layerSettings: LayerSettings { LayerSettings(occasion: OccasionLayer(occasion: occasion)) }
}

/// Who writes a campaign's pushes.
public enum CampaignComposer: Equatable, Sendable {
  /// What happens when the language model fails, is too late, or breaks a rule. Raw values are those of definitions.
  public enum Failure: String, CaseIterable, Sendable {
    /// Nothing is sent: better silence than a text for anybody.
    case skip
    /// A template is sent.
    case template
  }

  /// A language model.
  case model(failure: Failure)
  /// The campaign's templates.
  case template

  /// Whether it can come to a template.
  public var usesTemplates: Bool {
    self != .model(failure: .skip)
  }
}

/// What is wrong with a campaign's definition, and where.
public struct CampaignDefinitionDefect: Error, Equatable, Sendable {
  /// What is wrong. Raw values are stable.
  public enum Code: String, CaseIterable, Sendable {
    /// The document is not JSON.
    case notJSON = "not_json"
    /// The key is none of a definition's; also a payload's key that the run itself fills.
    case unknownKey = "unknown_key"
    /// The key has to be there.
    case missingKey = "missing_key"
    /// The value is of another type than it must be.
    case wrongType = "wrong_type"
    /// The value is none of the words that are known there.
    case unknownWord = "unknown_word"
    /// The number, or the length, is not within its limits.
    case outOfRange = "out_of_range"
    /// The value is there twice.
    case repeated
    /// The template cannot be read.
    case invalidTemplate = "invalid_template"
    /// A push type that the campaign can come to has no template.
    case noTemplate = "no_template"
  }

  /// What is wrong.
  public let code: Code
  /// Where, as a path of keys and indices: `templates.event_based[0].title`; `$` for the document itself.
  public let field: String
  /// What is expected there.
  public let expected: String

  init(_ code: Code, at field: String, expected: String) {
    self.code = code
    self.field = field
    self.expected = expected
  }
}

extension CampaignDefinitionDefect: CustomStringConvertible {
  /// For whoever wrote the definition: `composer.kind: unknown_word, expected one of: model, template`.
  public var description: String {
    "\(field): \(code.rawValue), expected \(expected)"
  }
}
