internal import HTTP1
internal import HTTPTypes
internal import SimulationControl

struct ScriptDocument: ControlDocument {
  /// Far more than any test needs, and few enough to search for each prompt.
  private static let rulesMax = 1000

  var rules: [Checked<RuleDocument>]?
  var models: Set<String>?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case rules, models
  }

  /// - Throws: `ProblemDetails` that names the mistake.
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

struct StepDocument: ControlDocument {
  /// `reply` when absent.
  var kind: ScriptedAnswer.Kind?
  /// Of `reply` and `cut`; composed from the prompt's decision when absent.
  var text: String?
  /// Of `failure`.
  var status: Int?
  var type: String?
  var headers: [String: String]?
  /// Of `raw`.
  var body: String?
  /// 0 when absent.
  var delayMilliseconds: Int?
  /// 1 when absent.
  var times: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, text, status, type, headers, body, times
    case delayMilliseconds = "delay_ms"
  }

  func step() throws(ProblemDetails) -> ModelScript.Step {
    try ControlLimits.check("delay_ms", delayMilliseconds)
    try ControlLimits.check("times", times, from: 1, to: ControlLimits.countMax)
    try refuseStrays()
    return ModelScript.Step(try answer(), delayMilliseconds: delayMilliseconds ?? 0, times: times ?? 1)
  }

  /// Refuses members of other kinds, which would have no effect.
  private func refuseStrays() throws(ProblemDetails) {
    let kind = kind ?? .reply
    let owners: [(member: String, isThere: Bool, kinds: [ScriptedAnswer.Kind])] = [
      ("text", text != nil, [.reply, .cut]), ("body", body != nil, [.raw]), ("status", status != nil, [.failure]),
      ("type", type != nil, [.failure]), ("headers", headers != nil, [.failure]),
    ]
    for owner in owners where owner.isThere && !owner.kinds.contains(kind) {
      throw ProblemDetails.unfit("\(owner.member) means nothing to \(kind.rawValue)")
    }
  }

  private func answer() throws(ProblemDetails) -> ScriptedAnswer {
    switch kind ?? .reply {
    case .reply: .reply(text)
    case .cut: .cut(text)
    case .refusal: .refusal
    case .failure: try failure()
    case .raw: .raw(body ?? "")
    case .close: .close
    case .hang: .hang
    }
  }

  private func failure() throws(ProblemDetails) -> ScriptedAnswer {
    guard let status else { throw ProblemDetails.unfit("status is missing") }
    try ControlLimits.check("status", status, from: 300, to: 599)
    for name in (headers ?? [:]).keys where HTTPField.Name(name) == nil {
      throw ProblemDetails.unfit("\(name) is no header field")
    }
    return .failure(status: status, type: type, fields: headers ?? [:])
  }
}
