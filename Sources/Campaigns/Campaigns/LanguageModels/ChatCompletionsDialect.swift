internal import FoundationEssentials
internal import HTTPTypes

/// OpenAI's chat completions, which compatible servers implement too. Source: platform.openai.com, "Chat Completions"
/// and "Error codes".
enum ChatCompletionsDialect: ModelDialect {
  static func fields(key: LanguageModelKey?) -> HTTPFields {
    var fields = HTTPFields()
    fields[.authorization] = key.map { "Bearer \($0.text)" }
    return fields
  }

  static func content(_ prompt: LanguageModelPrompt, model: String, replyTokensMax: Int) throws -> Data {
    let system = prompt.instructions.isEmpty ? [] : [ModelMessage(role: "system", content: prompt.instructions)]
    let user = ModelMessage(role: "user", content: prompt.material)
    return try json(Request(model: model, maxTokens: replyTokensMax, messages: system + [user]))
  }

  static func answer(_ content: Data) throws -> ModelAnswer {
    let completion = try decode(Completion.self, from: content)
    // The request asks for one.
    let choice = completion.choices.first
    return ModelAnswer(
      text: choice?.message.content ?? "", ending: ending(choice),
      usage: completion.usage.map {
        LanguageModelUsage(inputTokens: $0.promptTokens ?? 0, outputTokens: $0.completionTokens ?? 0)
      })
  }

  /// The code if there is one, such as `model_not_found`. OpenAI's type is `invalid_request_error` for most mistakes,
  /// and some compatible servers put the status in its place.
  static func failureType(_ content: Data) -> String? {
    guard let detail = (try? decode(Failure.self, from: content))?.error else { return nil }
    return detail.code ?? detail.type
  }

  private static func ending(_ choice: Choice?) -> ModelAnswer.Ending {
    if choice?.message.refusal?.isEmpty == false { return .declined }
    return switch choice?.finishReason {
    case "length": .cutOff
    case "content_filter": .declined
    default: .complete
    }
  }

  private struct Request: Encodable {
    let model: String
    // Most compatible servers do not know its successor, max_completion_tokens.
    let maxTokens: Int
    let messages: [ModelMessage]
    let stream = false
  }

  private struct Completion: Decodable {
    let choices: [Choice]
    let usage: Usage?
  }

  private struct Choice: Decodable {
    struct Message: Decodable {
      let content: String?
      let refusal: String?
    }

    let message: Message
    let finishReason: String?
  }

  private struct Usage: Decodable {
    let promptTokens: Int?
    let completionTokens: Int?
  }

  private struct Failure: Decodable {
    struct Detail: Decodable {
      let type: String?
      let code: String?

      enum CodingKeys: String, CodingKey {
        case type, code
      }

      init(from decoder: any Decoder) throws {
        let detail = try decoder.container(keyedBy: CodingKeys.self)
        type = try? detail.decodeIfPresent(String.self, forKey: .type)
        code = try? detail.decodeIfPresent(String.self, forKey: .code)
      }
    }

    let error: Detail
  }
}
