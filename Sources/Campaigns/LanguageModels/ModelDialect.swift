internal import FoundationEssentials
internal import HTTPTypes

/// What differs between the providers: how a request is written, and how an answer is read. Values in, values out.
protocol ModelDialect {
  /// The header fields that make the caller known, besides the type of the content.
  static func fields(key: LanguageModelKey?) -> HTTPFields

  /// The content of a request, as JSON. Only documented members; how freely the model chooses its words is left as it
  /// is.
  static func content(_ prompt: LanguageModelPrompt, model: String, replyTokensMax: Int) throws -> Data

  /// Reads the content of a successful answer.
  /// - Throws: when it has not the interface's shape.
  static func answer(_ content: Data) throws -> ModelAnswer

  /// The provider's word for a failure, from the content of such an answer; nil when there is none.
  static func failureType(_ content: Data) -> String?
}

extension ModelDialect {
  /// JSON with the members in alphabetical order, so that the same request is the same bytes.
  static func json(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }
}

/// A message of a conversation, in which the two interfaces agree.
struct ModelMessage: Encodable {
  let role: String
  let content: String
}

/// A successful answer, in terms of neither provider.
struct ModelAnswer: Equatable {
  enum Ending: Equatable {
    /// The model had nothing to add, or the provider does not say.
    case complete
    /// There were no tokens left.
    case cutOff
    /// The model, or a filter, would not go on.
    case declined
  }

  /// Empty when there is none.
  let text: String
  let ending: Ending
  let usage: LanguageModelUsage?
}
