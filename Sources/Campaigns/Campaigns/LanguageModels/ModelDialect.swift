internal import FoundationEssentials
internal import HTTPTypes

/// How a provider's requests are written and its responses are read. Values in, values out.
protocol ModelDialect {
  static func fields(key: LanguageModelKey?) -> HTTPFields

  /// The content of a request, as JSON. Only documented members; sampling parameters keep their defaults.
  static func content(_ prompt: LanguageModelPrompt, model: String, replyTokensMax: Int) throws -> Data

  /// Reads the content of a successful response.
  /// - Throws: when it has another shape.
  static func answer(_ content: Data) throws -> ModelAnswer

  /// The provider's word for a failure, from the content of an error response; nil without one.
  static func failureType(_ content: Data) -> String?
}

extension ModelDialect {
  /// JSON with snake-case members in alphabetical order, so that equal requests are equal bytes.
  static func json(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }

  /// Reads JSON with snake-case members.
  static func decode<Value: Decodable>(_ type: Value.Type, from content: Data) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: content)
  }
}

/// A message of a conversation; both interfaces use the same form.
struct ModelMessage: Encodable {
  let role: String
  let content: String
}

/// A successful response, independent of the provider.
struct ModelAnswer: Equatable {
  enum Ending: Equatable {
    /// The model finished, or the provider does not say.
    case complete
    /// The reply reached its token limit.
    case cutOff
    case declined
  }

  /// May be empty.
  let text: String
  let ending: Ending
  let usage: LanguageModelUsage?
}
