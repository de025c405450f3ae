internal import HTTP1
internal import SimulationControl

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
    package var answer: ScriptedAnswer
    package var delayMilliseconds: Int
    /// The number of prompts that get it, from 1; ignored in the last step.
    package var times: Int

    package init(_ answer: ScriptedAnswer, delayMilliseconds: Int = 0, times: Int = 1) {
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

package enum ScriptedAnswer: Sendable, Equatable {
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
