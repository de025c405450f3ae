internal import FoundationEssentials
internal import HTTPTypes

/// Anthropic's Messages. Source: docs.claude.com, "Messages", "Handling stop reasons" and "Errors".
enum MessagesDialect: ModelDialect {
  /// The version of the interface, which has been the same since 2023.
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
    let message = try JSONDecoder().decode(Message.self, from: content)
    return ModelAnswer(
      text: message.content.compactMap { $0.type == "text" ? $0.text : nil }.joined(),
      ending: ending(message.stopReason),
      usage: message.usage.map { LanguageModelUsage(inputTokens: $0.inputTokens, outputTokens: $0.outputTokens) })
  }

  static func failureType(_ content: Data) -> String? {
    (try? JSONDecoder().decode(Failure.self, from: content))?.error.type
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

    enum CodingKeys: String, CodingKey {
      case model, system, messages, stream
      case maxTokens = "max_tokens"
    }
  }

  private struct Message: Decodable {
    let content: [Block]
    let stopReason: String?
    let usage: Usage?

    enum CodingKeys: String, CodingKey {
      case content, usage
      case stopReason = "stop_reason"
    }
  }

  /// One of several kinds; only text is asked for, and only text is read.
  private struct Block: Decodable {
    let type: String
    let text: String?
  }

  private struct Usage: Decodable {
    let inputTokens: Int
    let outputTokens: Int

    enum CodingKeys: String, CodingKey {
      case inputTokens = "input_tokens"
      case outputTokens = "output_tokens"
    }
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
