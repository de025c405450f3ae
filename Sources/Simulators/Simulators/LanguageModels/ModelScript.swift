internal import HTTP1
internal import HTTPTypes

package struct ModelScript: Sendable, Equatable {
  /// The first rule that matches the prompt applies. Without one the reply is composed from the prompt's decision.
  package var rules: [Rule]

  /// The known models; others get 404. Nil knows all.
  package var models: Set<String>?

  package init(rules: [Rule] = [], models: Set<String>? = nil) {
    self.rules = rules
    self.models = models
  }

  /// A script of one rule for all prompts.
  package init(_ first: Step, _ more: Step...) {
    self.init(rules: [Rule(steps: [first] + more)])
  }

  /// Reads a script in the form of the control endpoint.
  /// - Throws: ``ModelScriptError`` that names the mistake.
  package init(parsing text: String) throws(ModelScriptError) {
    do throws(ProblemDetails) {
      self = try ScriptDocument.read(Array(text.utf8)).script()
    } catch {
      throw ModelScriptError(description: error.detail ?? error.title)
    }
  }

  /// The answers to prompts that contain a text.
  package struct Rule: Sendable, Equatable {
    /// A part of the instructions or the material, case-sensitive; nil matches all.
    package var match: String?
    /// The steps in order. The last one repeats. Never empty.
    package var steps: [Step]

    /// A rule. Without steps it traps.
    package init(match: String? = nil, steps: [Step]) {
      precondition(!steps.isEmpty, "a rule has steps")
      self.match = match
      self.steps = steps
    }
  }

  /// One answer, for some prompts in a row.
  package struct Step: Sendable, Equatable {
    package var answer: ScriptedModelAnswer
    package var delayMilliseconds: Int
    /// The number of prompts that get it, from 1; ignored in the last step.
    package var times: Int

    package init(_ answer: ScriptedModelAnswer, delayMilliseconds: Int = 0, times: Int = 1) {
      self.answer = answer
      self.delayMilliseconds = delayMilliseconds
      self.times = times
    }
  }
}

package struct ModelScriptError: Error, Sendable, Equatable, CustomStringConvertible {
  /// `rules.item 1.steps.item 2.kind is missing`
  package let description: String
}

package enum ScriptedModelAnswer: Sendable, Equatable {
  /// A reply with this text, cut at the request's token limit; nil composes one from the prompt's decision.
  case reply(String? = nil)
  /// The first half of such a reply, as if the token limit were there.
  case cut(String? = nil)
  case refusal
  /// A failure with this status. `type` defaults to the provider's usual word; `fields` are header fields such as
  /// `retry-after`.
  case failure(status: Int, type: String? = nil, fields: [String: String] = [:])
  /// This content, unchanged, with the status 200.
  case raw(String)
  /// The connection is closed without a response.
  case close
  /// No response until ``SimulatedModel/release()``; then a reply.
  case hang

  var kind: Kind {
    switch self {
    case .reply: .reply
    case .cut: .cut
    case .refusal: .refusal
    case .failure: .failure
    case .raw: .raw
    case .close: .close
    case .hang: .hang
    }
  }

  /// The kinds as scripts name them.
  enum Kind: String, Codable, CaseIterable {
    case reply, cut, refusal, failure, raw, close, hang
  }
}

/// A script and its progress.
struct ScriptPlayer {
  private static let standard = ModelScript.Step(.reply())

  let script: ModelScript
  /// The number of prompts of each rule.
  private var counts: [Int]

  init(_ script: ModelScript) {
    self.script = script
    counts = [Int](repeating: 0, count: script.rules.count)
  }

  mutating func next(for inquiry: ModelInquiry) -> ModelScript.Step {
    guard let place = script.rules.firstIndex(where: { inquiry.contains($0.match) }) else { return Self.standard }
    defer { counts[place] += 1 }
    return Self.step(counts[place], of: script.rules[place].steps)
  }

  /// - Parameter count: the number of earlier prompts.
  private static func step(_ count: Int, of steps: [ModelScript.Step]) -> ModelScript.Step {
    var left = count
    for step in steps.dropLast() {
      if left < step.times { return step }
      left -= step.times
    }
    return steps.last ?? standard
  }
}

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
  var kind: ScriptedModelAnswer.Kind?
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
    let kind = kind ?? .reply
    try ControlLimits.refuseStrays(
      kind,
      [
        ("text", text != nil, [.reply, .cut]), ("body", body != nil, [.raw]), ("status", status != nil, [.failure]),
        ("type", type != nil, [.failure]), ("headers", headers != nil, [.failure]),
      ])
    return ModelScript.Step(try answer(), delayMilliseconds: delayMilliseconds ?? 0, times: times ?? 1)
  }

  private func answer() throws(ProblemDetails) -> ScriptedModelAnswer {
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

  private func failure() throws(ProblemDetails) -> ScriptedModelAnswer {
    guard let status else { throw ProblemDetails.unfit("status is missing") }
    try ControlLimits.check("status", status, from: 300, to: 599)
    for name in (headers ?? [:]).keys where HTTPField.Name(name) == nil {
      throw ProblemDetails.unfit("\(name) is no header field")
    }
    return .failure(status: status, type: type, fields: headers ?? [:])
  }
}
