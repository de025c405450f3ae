internal import FoundationEssentials
internal import HTTPTypes

/// Anthropic's Messages. Source: docs.claude.com, "Messages", "Handling stop reasons" and "Errors".
enum MessagesDialect: ModelDialect {
  /// The version of the interface, unchanged since 2023.
  private static let version = "2023-06-01"

  static func fields(key: LanguageModelKey?) -> HTTPFields {
    var fields: HTTPFields = [.anthropicVersion: version]
    fields[.xAPIKey] = key?.text
    return fields
  }

  static func content(_ prompt: LanguageModelPrompt, model: String, replyTokensMax: Int) throws -> Data {
    try json(
      Request(
        model: model, maxTokens: replyTokensMax, system: prompt.instructions.isEmpty ? nil : prompt.instructions,
        messages: [ModelMessage(role: "user", content: prompt.material)]))
  }

  static func answer(_ content: Data) throws -> ModelAnswer {
    let message = try decode(Message.self, from: content)
    return ModelAnswer(
      text: message.content.compactMap { $0.type == "text" ? $0.text : nil }.joined(),
      ending: ending(message.stopReason),
      usage: message.usage.map { LanguageModelUsage(inputTokens: $0.inputTokens, outputTokens: $0.outputTokens) })
  }

  static func failureType(_ content: Data) -> String? {
    (try? decode(Failure.self, from: content))?.error.type
  }

  private static func ending(_ stopReason: String?) -> ModelAnswer.Ending {
    switch stopReason {
    case "max_tokens", "model_context_window_exceeded": .cutOff
    case "refusal": .declined
    default: .complete
    }
  }

  private struct Request: Encodable {
    let model: String
    let maxTokens: Int
    let system: String?
    let messages: [ModelMessage]
    let stream = false
  }

  private struct Message: Decodable {
    let content: [Block]
    let stopReason: String?
    let usage: Usage?
  }

  /// A content block. Only text blocks are requested and read.
  private struct Block: Decodable {
    let type: String
    let text: String?
  }

  private struct Usage: Decodable {
    let inputTokens: Int
    let outputTokens: Int
  }

  private struct Failure: Decodable {
    struct Detail: Decodable {
      let type: String
    }

    let error: Detail
  }
}

extension HTTPField.Name {
  fileprivate static let xAPIKey = HTTPField.Name("x-api-key")!
  fileprivate static let anthropicVersion = HTTPField.Name("anthropic-version")!
}
