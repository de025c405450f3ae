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
