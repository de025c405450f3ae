internal import HTTPServing
internal import SimulationControl

/// What a simulated model answers to whom.
public struct ModelScript: Sendable, Equatable {
  /// The first whose text stands in the prompt decides. Without such a rule the reply is made of the prompt's decision.
  public var rules: [Rule]

  /// The models that exist; any other gets 404. Nil for all.
  public var models: Set<String>?

  /// A script; without rules every reply is made of the prompt's decision.
  public init(rules: [Rule] = [], models: Set<String>? = nil) {
    self.rules = rules
    self.models = models
  }

  /// A script of one rule for all prompts.
  public init(_ first: Step, _ more: Step...) {
    self.init(rules: [Rule(steps: [first] + more)])
  }

  /// Reads a script as the control endpoint takes it.
  /// - Throws: ``ModelScriptError``, naming what is wrong.
  public init(parsing text: String) throws(ModelScriptError) {
    do throws(ProblemDetails) {
      self = try ScriptDocument.read(Array(text.utf8)).script()
    } catch {
      throw ModelScriptError(description: error.detail ?? error.title)
    }
  }

  /// What happens to prompts with a text in them.
  public struct Rule: Sendable, Equatable {
    /// A part of the instructions or the material, case counting; nil is part of all.
    public var match: String?
    /// One after the other; the last one stays. Never empty.
    public var steps: [Step]

    /// A rule; one without steps is a mistake of the caller and traps.
    public init(match: String? = nil, steps: [Step]) {
      precondition(!steps.isEmpty, "a rule has steps")
      self.match = match
      self.steps = steps
    }
  }

  /// One answer, for some prompts in a row.
  public struct Step: Sendable, Equatable {
    /// What is answered.
    public var answer: ScriptedAnswer
    /// How much later than the simulator's other answers, in milliseconds.
    public var delayMilliseconds: Int
    /// How many prompts get it, from 1; the last step's does not count.
    public var times: Int

    /// A step.
    public init(_ answer: ScriptedAnswer, delayMilliseconds: Int = 0, times: Int = 1) {
      self.answer = answer
      self.delayMilliseconds = delayMilliseconds
      self.times = times
    }
  }
}

/// What is wrong with a script.
public struct ModelScriptError: Error, Sendable, Equatable, CustomStringConvertible {
  /// `rules.item 1.steps.item 2.kind is missing`
  public let description: String
}

/// An answer of a simulated model.
public enum ScriptedAnswer: Sendable, Equatable {
  /// A reply with this text, cut off where the request's tokens end; nil makes one of the prompt's decision.
  case reply(String? = nil)
  /// The first half of such a reply, as if the tokens had ended there.
  case cut(String? = nil)
  /// The model will not write that.
  case refusal
  /// A failure with this status; `type` is the provider's usual word unless given, `fields` are header fields such as
  /// `retry-after`.
  case failure(status: Int, type: String? = nil, fields: [String: String] = [:])
  /// Content that is sent as it is, with the status 200.
  case raw(String)
  /// The connection is closed without a word.
  case close
  /// Nothing, until ``SimulatedModel/release()``; then a reply.
  case hang

  /// The word for it in scripts.
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

/// A script and how far it has come.
struct ScriptPlayer {
  private static let standard = ModelScript.Step(.reply())

  let script: ModelScript
  /// Prompts that each rule has had.
  private var counts: [Int]

  init(_ script: ModelScript) {
    self.script = script
    counts = [Int](repeating: 0, count: script.rules.count)
  }

  /// What comes of the next prompt.
  mutating func next(for inquiry: ModelInquiry) -> ModelScript.Step {
    guard let place = script.rules.firstIndex(where: { inquiry.contains($0.match) }) else { return Self.standard }
    defer { counts[place] += 1 }
    return Self.step(counts[place], of: script.rules[place].steps)
  }

  /// - Parameter count: prompts that came before.
  private static func step(_ count: Int, of steps: [ModelScript.Step]) -> ModelScript.Step {
    var left = count
    for step in steps.dropLast() {
      if left < step.times { return step }
      left -= step.times
    }
    return steps.last ?? standard
  }
}
