internal import HTTPServing
internal import SimulationControl

/// A script as it is written in JSON.
struct ScriptDocument: ControlDocument {
  /// Far more than any test has, and few enough to be looked through for each prompt.
  private static let rulesMax = 1000

  var rules: [Checked<RuleDocument>]?
  var models: Set<String>?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case rules, models
  }

  /// - Throws: `ProblemDetails` that names what does not go together.
  func script() throws(ProblemDetails) -> ModelScript {
    let documents = rules ?? []
    guard documents.count <= Self.rulesMax else {
      throw ProblemDetails.unfit("a script has \(Self.rulesMax) rules at most")
    }
    var script = ModelScript(models: models)
    for rule in documents { script.rules.append(try rule.document.rule()) }
    return script
  }
}

/// A rule as it is written.
struct RuleDocument: ControlDocument {
  /// Nil is for all prompts.
  var match: String?
  var steps: [Checked<StepDocument>]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case match, steps
  }

  func rule() throws(ProblemDetails) -> ModelScript.Rule {
    guard !steps.isEmpty else { throw ProblemDetails.unfit("a rule has steps") }
    var read: [ModelScript.Step] = []
    for step in steps { read.append(try step.document.step()) }
    return ModelScript.Rule(match: match, steps: read)
  }
}
