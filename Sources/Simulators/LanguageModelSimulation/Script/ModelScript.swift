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
