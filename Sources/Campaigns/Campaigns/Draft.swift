internal import FoundationEssentials
internal import PushRules
internal import PushStore

/// What is said at an occasion, by a template or by a language model.
struct Draft {
  /// What a model is asked.
  struct Question {
    let prompt: ModelPrompt
    let check: ReplyCheck
    /// How long it may take; nil for the writer's own limit.
    let limit: Duration?
  }

  let occasion: Occasion
  /// The type of the push; nil of slots.
  var pushType: String?
  /// Nil where no text applies, or a name in it has no value.
  let template: CampaignText?
  /// Whether the template is said where the model fails.
  var fallsBack = true
  let category: String
  /// The payload's own members, as a JSON object.
  let data: String
  /// Nil where the template is all.
  var question: Question?
  /// Nil of slots.
  var findings: OccasionFindings?

  /// - Parameter composition: of the model; nil where it was not asked.
  func decided(by composition: ModelTexts.Composition? = nil) -> DecidedOccasion {
    var composition = composition ?? ModelTexts.Composition(writing: .init(by: "template"))
    if composition.text == nil, fallsBack, composition.writing.refusal == nil {
      composition.text = template
      composition.writing.by = "template"
      if template == nil { composition.writing.failure = composition.writing.failure ?? "no_template" }
    }
    var findings = findings
    findings?.note(composition, campaign: occasion.campaign)
    let document = findings.map { JSONText.of($0) }
    guard let text = composition.text else {
      return DecidedOccasion(occasion, nil, refusal: composition.writing.failure ?? "no_text", findings: document)
    }
    let words = OccasionWords(title: text.title, body: text.body, category: category, data: data)
    return DecidedOccasion(occasion, words, pushType: pushType, findings: document)
  }
}

extension Draft {
  /// Of a campaign that comes at an hour, about what a layer has found.
  init(
    of occasion: Occasion, about finding: LayerFinding, in material: CampaignMaterial, _ findings: OccasionFindings,
    by definition: CampaignDefinition
  ) {
    let values = material.values(for: finding)
    let filled = occasion.userID.withBytes { user in
      definition.text(
        with: values, in: material.facts.locale, for: user, on: material.localTime.day(of: material.moment))
    }
    let data = definition.data(
      with: values, members: ["push_type": .string(finding.pushType), "domain": finding.domain.map { .string($0) }])
    self.init(
      occasion: occasion, pushType: finding.pushType,
      // A sentence with a hole is worse than silence.
      template: filled?.missing == 0 ? filled?.text : nil, fallsBack: definition.composer?.onFailure != .skip,
      category: "", data: data,
      question: definition.composer.map { Question(about: finding, in: material, $0.task) }, findings: findings)
  }
}

extension Draft.Question {
  /// - Parameter task: nil for the coach's.
  fileprivate init(about finding: LayerFinding, in material: CampaignMaterial, _ task: ModelTask?) {
    prompt = task?.prompt(with: material.facts.lines) ?? ModelPrompt(for: finding, in: material)
    check = ReplyCheck(
      rules: task?.rules ?? .coach, sources: material.quotableTexts, takesLine: task != nil,
      mayRefuse: task == nil && finding.metadata.event != nil)
    limit = task?.limit
  }
}

/// The record that explains a decision: the rules with their numbers, the finding and the writer.
///
/// It cannot contain text of a user: rules and figures are enumerations.
struct OccasionFindings: Encodable {
  struct Inputs: Encodable {
    var notes: [LayerNote] = []
    var finding: FindingMetadata?
    var writing: Writing?
  }

  /// The writer of the push, also of a failed one.
  struct Writing: Encodable, Equatable {
    /// `model` or `template`.
    var by: String
    /// Why the model's reply was not used; nil when it was.
    var failure: String?
    /// Why the model wrote nothing. Then no template is said instead.
    var refusal: EventRefusal?
  }

  /// The layer that had something to say.
  var layer: String?
  var inputs = Inputs()
  /// For the ledger.
  var metadata: FindingMetadata?
  var inputTokens = 0
  var outputTokens = 0
  var costMicrodollars = 0

  enum CodingKeys: String, CodingKey {
    case layer, inputs, metadata
    case inputTokens = "input_tokens"
    case outputTokens = "output_tokens"
    case costMicrodollars = "cost_microdollars"
  }

  init(_ evaluation: LayerEvaluation) {
    inputs = Inputs(notes: evaluation.notes, finding: evaluation.finding?.metadata)
  }

  mutating func note(_ composition: ModelTexts.Composition, campaign: String) {
    layer = inputs.finding?.layer
    inputs.writing = composition.writing
    metadata = inputs.finding
    metadata?.campaign = campaign
    inputTokens = composition.usage.inputTokens
    outputTokens = composition.usage.outputTokens
    costMicrodollars = composition.usage.costMicrodollars
  }
}

/// Values whose encoding cannot fail.
enum JSONText {
  static func of(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { preconditionFailure("\(type(of: value)) cannot be encoded") }
    return String(decoding: data, as: UTF8.self)
  }
}
