internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import SimulationControl

/// OpenAI's chat completions. Source: platform.openai.com, "Chat Completions" and "Error codes".
enum OpenAIFace: ProviderFace {
  static let provider = SimulatedProvider.openai
  static let path = "/v1/chat/completions"
  static let numberField = HTTPField.Name("x-request-id")!
  private static let roles: Set<String> = ["system", "developer", "user", "assistant"]

  static func key(of request: HTTPServerRequest) -> String? {
    let parts = (request.head[.authorization] ?? "").split(separator: " ", maxSplits: 1)
    return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : nil
  }

  static func unauthorized(hasKey: Bool) -> ModelRefusal {
    ModelRefusal(
      status: 401, code: hasKey ? "invalid_api_key" : nil,
      message: hasKey ? "the key is not known" : "Authorization is missing, or names no bearer")
  }

  static func inquiry(of request: HTTPServerRequest) throws(ModelRefusal) -> ModelInquiry {
    let document = try read(CompletionRequest.self, of: request)
    if let tokensMax = document.tokensMax, tokensMax < 1 { throw .malformed("max_tokens is a number from 1") }
    if let role = document.messages.role(outside: roles) {
      throw .malformed("messages: no message has the role \(role)")
    }
    let instructions = [document.messages.text(of: "system"), document.messages.text(of: "developer")]
    return ModelInquiry(
      provider: provider, model: document.model,
      instructions: instructions.filter { !$0.isEmpty }.joined(separator: "\n"),
      material: document.messages.text(of: "user"), tokensMax: document.tokensMax)
  }

  static func content(_ output: ModelOutput, model: String, number: Int) -> any Encodable {
    OpenAICompletion(output, model: model, number: number)
  }

  static func content(_ refusal: ModelRefusal, number: Int) -> any Encodable {
    let usual = usualWords(of: refusal.status)
    return OpenAIFailure(
      error: .init(message: refusal.message, type: refusal.type ?? usual.type, code: refusal.code ?? usual.code))
  }

  private static func usualWords(of status: Int) -> (type: String, code: String?) {
    switch status {
    case 404: ("invalid_request_error", "model_not_found")
    case 429: ("requests", "rate_limit_exceeded")
    case 500...: ("server_error", nil)
    default: ("invalid_request_error", nil)
    }
  }
}

/// The content of a request. An unknown member is refused, as by the real service.
private struct CompletionRequest: ControlDocument {
  let model: String
  let tokensMax: Int?
  let messages: [PromptMessage]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case model, messages, stream, metadata, temperature, n, seed, stop, store, user, tools
    case frequencyPenalty = "frequency_penalty"
    case maxCompletionTokens = "max_completion_tokens"
    case maxTokens = "max_tokens"
    case presencePenalty = "presence_penalty"
    case reasoningEffort = "reasoning_effort"
    case responseFormat = "response_format"
    case serviceTier = "service_tier"
    case toolChoice = "tool_choice"
    case topP = "top_p"
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    model = try values.decode(String.self, forKey: .model)
    tokensMax =
      try values.decodeIfPresent(Int.self, forKey: .maxCompletionTokens)
      ?? values.decodeIfPresent(Int.self, forKey: .maxTokens)
    messages = try values.decode([PromptMessage].self, forKey: .messages)
    guard try values.decodeIfPresent(Bool.self, forKey: .stream) != true else {
      throw DecodingError.dataCorruptedError(forKey: .stream, in: values, debugDescription: "streams are not simulated")
    }
  }
}

private struct OpenAIFailure: Encodable {
  struct Detail: Encodable {
    let message: String
    let type: String
    let code: String?
  }

  let error: Detail
}

private struct OpenAICompletion: Encodable {
  private struct Message: Encodable {
    let content: String
    let role = "assistant"
  }

  private struct Choice: Encodable {
    let finishReason: String
    let index = 0
    let message: Message
  }

  private struct Usage: Encodable {
    let completionTokens: Int
    let promptTokens: Int
    let totalTokens: Int
  }

  private let choices: [Choice]
  /// Unix seconds.
  private let created: Int
  private let id: String
  private let model: String
  private let object = "chat.completion"
  private let usage: Usage

  init(_ output: ModelOutput, model: String, number: Int) {
    let reason =
      switch output.ending {
      case .complete: "stop"
      case .cutOff: "length"
      case .refused: "content_filter"
      }
    choices = [Choice(finishReason: reason, message: Message(content: output.text))]
    created = Int(Date().timeIntervalSince1970)
    id = "chatcmpl-sim-\(number)"
    self.model = model
    usage = Usage(
      completionTokens: output.outputTokens, promptTokens: output.inputTokens,
      totalTokens: output.inputTokens + output.outputTokens)
  }
}
