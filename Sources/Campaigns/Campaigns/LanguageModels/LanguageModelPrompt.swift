/// A model's input. Its text is personal: no description, log or error of this module contains it.
package struct LanguageModelPrompt: Sendable, Equatable {
  /// The system prompt, which has more weight than the material; may be empty.
  package var instructions: String

  /// The only user message. Providers refuse an empty one.
  package var material: String

  package init(instructions: String, material: String) {
    self.instructions = instructions
    self.material = material
  }
}

extension LanguageModelPrompt: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The lengths of the two parts, in bytes of UTF-8.
  package var description: String {
    "a prompt of \(instructions.utf8.count) and \(material.utf8.count) bytes"
  }

  package var debugDescription: String { description }

  /// Without children, so that `dump` shows nothing either.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

package struct LanguageModelReply: Sendable, Equatable {
  /// The unchanged text; never only white space. Several blocks are joined without a separator.
  package let text: String

  /// The billed tokens; nil if the provider does not report them, like some compatible servers.
  package let usage: LanguageModelUsage?

  /// Requests sent: 2 after a retry.
  package let attempts: Int

  /// A reply, for stand-ins of a client.
  package init(text: String, usage: LanguageModelUsage?, attempts: Int = 1) {
    self.text = text
    self.usage = usage
    self.attempts = attempts
  }
}

extension LanguageModelReply: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The length of the text in bytes of UTF-8. The text itself is personal.
  package var description: String { "a reply of \(text.utf8.count) bytes" }

  package var debugDescription: String { description }

  /// Without children, so that `dump` shows nothing either.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The tokens of a call, as the provider counts them.
package struct LanguageModelUsage: Sendable, Equatable {
  package let inputTokens: Int

  package let outputTokens: Int

  /// Ten times the largest context, so that sums and prices of any reported counts stay in range.
  static let tokensMax = 10_000_000

  /// Counts, each clamped to 0 ... ``tokensMax``.
  package init(inputTokens: Int, outputTokens: Int) {
    self.inputTokens = min(max(0, inputTokens), Self.tokensMax)
    self.outputTokens = min(max(0, outputTokens), Self.tokensMax)
  }
}
