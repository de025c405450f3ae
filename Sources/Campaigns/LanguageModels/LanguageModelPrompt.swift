/// What a model is asked. Its text is personal: it appears in no description, log or error of this module.
public struct LanguageModelPrompt: Sendable, Equatable {
  /// How the model is to write: the system prompt, which weighs more than the material. Empty for none.
  public var instructions: String

  /// What it is to write about: the one message of the user. Never empty, or the provider refuses the request.
  public var material: String

  /// Describes a prompt.
  public init(instructions: String, material: String) {
    self.instructions = instructions
    self.material = material
  }
}

extension LanguageModelPrompt: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How long the two parts are, in bytes of UTF-8.
  public var description: String {
    "a prompt of \(instructions.utf8.count) and \(material.utf8.count) bytes"
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// Without children, so that `dump` shows nothing either.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a model has written, whole.
public struct LanguageModelReply: Sendable, Equatable {
  /// The text, as it came; never white space alone. Several blocks of text are put together without anything between
  /// them.
  public let text: String

  /// What it has cost; nil when the provider does not say, as some compatible servers do not.
  public let usage: LanguageModelUsage?

  /// Requests that were sent: 2 when the provider had asked to come again.
  public let attempts: Int

  /// A reply, as those who stand in for a client make it.
  public init(text: String, usage: LanguageModelUsage?, attempts: Int = 1) {
    self.text = text
    self.usage = usage
    self.attempts = attempts
  }
}

extension LanguageModelReply: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How long the text is, in bytes of UTF-8: what it says is personal.
  public var description: String { "a reply of \(text.utf8.count) bytes" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// Without children, so that `dump` shows nothing either.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a call has cost, in tokens as the provider counts them.
public struct LanguageModelUsage: Sendable, Equatable {
  /// Tokens of the prompt, from 0.
  public let inputTokens: Int

  /// Tokens of the reply, from 0.
  public let outputTokens: Int

  /// More than any call can use, so that what a provider makes up can be added and priced: ten times the largest context.
  static let tokensMax = 10_000_000

  /// Counts, each within 0 and ``tokensMax``; a provider may say anything.
  public init(inputTokens: Int, outputTokens: Int) {
    self.inputTokens = min(max(0, inputTokens), Self.tokensMax)
    self.outputTokens = min(max(0, outputTokens), Self.tokensMax)
  }
}
