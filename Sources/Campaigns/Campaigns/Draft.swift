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
  var evaluation: LayerEvaluation?

  /// The type of the push; nil of slots.
  var pushType: String? { evaluation?.finding?.layer.pushType }

  /// - Parameter composition: of the model; nil where it was not asked.
  func decided(by composition: ModelTexts.Composition? = nil) -> DecidedOccasion {
    var composition = composition ?? ModelTexts.Composition(by: "template")
    if composition.text == nil, fallsBack, composition.refusal == nil {
      composition.text = template
      composition.by = "template"
      if template == nil { composition.failure = composition.failure ?? "no_template" }
    }
    let findings = evaluation?.findings(composition, campaign: occasion.campaign)
    guard let text = composition.text else {
      return DecidedOccasion(occasion, nil, refusal: composition.failure ?? "no_text", findings: findings)
    }
    let words = OccasionWords(title: text.title, body: text.body, category: category, data: data)
    return DecidedOccasion(occasion, words, pushType: pushType, findings: findings)
  }
}

extension Draft {
  /// Of a campaign that comes at an hour, about what a layer has found.
  init(
    of occasion: Occasion, about finding: LayerFinding, _ evaluation: LayerEvaluation, in material: CampaignMaterial,
    by definition: CampaignDefinition
  ) {
    let values = material.values(for: finding)
    let filled = occasion.userID.withBytes { user in
      definition.text(
        with: values, in: material.facts.locale, for: user, on: material.localTime.day(of: material.moment))
    }
    let data = definition.data(
      with: values,
      members: ["push_type": .string(finding.layer.pushType), "domain": finding.domain.map { .string($0) }])
    self.init(
      occasion: occasion,
      // A sentence with a hole is worse than silence.
      template: filled?.missing == 0 ? filled?.text : nil, fallsBack: definition.composer?.onFailure != .skip,
      category: "", data: data,
      question: definition.composer.map { composer in
        let task = composer.task
        return Question(
          prompt: task?.prompt(with: material.facts.lines) ?? ModelPrompt(for: finding, in: material),
          check: ReplyCheck(
            rules: task?.rules ?? .coach, sources: material.quotableTexts, takesLine: task != nil,
            mayRefuse: task == nil && finding.found["event"] != nil),
          limit: task?.limit)
      }, evaluation: evaluation)
  }
}

extension LayerEvaluation {
  /// What explains a decision, as JSON: the rules with their numbers, the finding, and the writer, also a failed one.
  ///
  /// It cannot contain text of a user: rules and figures are enumerations.
  /// - Parameter composition: nil before anything is written.
  func findings(_ composition: ModelTexts.Composition? = nil, campaign: String? = nil) -> String {
    let writing: PayloadObject? = composition.map { composition in
      [
        "by": .string(composition.by), "failure": composition.failure.map { .string($0) },
        "refusal": composition.refusal.map { .string($0.rawValue) },
      ]
    }
    let inputs: PayloadObject = [
      "notes": .array(notes.map { .object($0.document) }), "finding": finding.map { .object($0.document()) },
      "writing": writing.map { .object($0) },
    ]
    let usage = composition?.usage ?? CampaignUsage()
    let findings: PayloadObject = [
      "layer": finding.map { .string($0.layer.name) }, "inputs": .object(inputs),
      // For the ledger.
      "metadata": finding.map { .object($0.document(campaign: campaign)) },
      "input_tokens": .integer(Int64(usage.inputTokens)),
      "output_tokens": .integer(Int64(usage.outputTokens)),
      "cost_microdollars": .integer(Int64(usage.costMicrodollars)),
    ]
    return String(decoding: findings.encoded(), as: UTF8.self)
  }
}
