internal import HTTP1
internal import HTTPTypes
internal import SimulationControl

/// Anthropic's Messages. Source: docs.claude.com, "Messages" and "Errors".
enum AnthropicFace: ProviderFace {
  static let provider = SimulatedProvider.anthropic
  static let path = "/v1/messages"
  static let numberField = HTTPField.Name("request-id")!
  private static let keyField = HTTPField.Name("x-api-key")!
  private static let versionField = HTTPField.Name("anthropic-version")!

  static func key(of request: HTTPServerRequest) -> String? { request.head[keyField] }

  static func unauthorized(hasKey: Bool) -> ModelRefusal {
    ModelRefusal(status: 401, message: hasKey ? "the key in x-api-key is not known" : "x-api-key is missing")
  }

  static func inquiry(of request: HTTPServerRequest) throws(ModelRefusal) -> ModelInquiry {
    guard request.head[versionField] == "2023-06-01" else {
      throw .malformed("anthropic-version is missing, or is no version of the interface")
    }
    let document = try read(MessagesRequest.self, of: request)
    guard document.maxTokens > 0 else { throw .malformed("max_tokens is a number from 1") }
    if let role = document.messages.role(outside: ["user", "assistant"]) {
      throw .malformed("messages: no message has the role \(role)")
    }
    return ModelInquiry(
      provider: provider, model: document.model, instructions: document.system?.text ?? "",
      material: document.messages.text(of: "user"), tokensMax: document.maxTokens)
  }

  static func content(_ output: ModelOutput, model: String, number: Int) -> any Encodable {
    AnthropicMessage(output, model: model, number: number)
  }

  static func content(_ refusal: ModelRefusal, number: Int) -> any Encodable {
    let type = refusal.type ?? usualType(of: refusal.status)
    return AnthropicFailure(error: .init(message: refusal.message, type: type), requestID: "req_sim_\(number)")
  }

  private static func usualType(of status: Int) -> String {
    switch status {
    case 401: "authentication_error"
    case 403: "permission_error"
    case 404: "not_found_error"
    case 413: "request_too_large"
    case 429: "rate_limit_error"
    case 504: "timeout_error"
    case 529: "overloaded_error"
    case 500...: "api_error"
    default: "invalid_request_error"
    }
  }
}

/// The content of a request. An unknown member is refused, as by the real service.
private struct MessagesRequest: ControlDocument {
  let model: String
  let maxTokens: Int
  let system: PromptText?
  let messages: [PromptMessage]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case model, system, messages, stream, metadata, temperature, thinking, tools, container
    case maxTokens = "max_tokens"
    case stopSequences = "stop_sequences"
    case serviceTier = "service_tier"
    case toolChoice = "tool_choice"
    case topK = "top_k"
    case topP = "top_p"
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    model = try values.decode(String.self, forKey: .model)
    maxTokens = try values.decode(Int.self, forKey: .maxTokens)
    system = try values.decodeIfPresent(PromptText.self, forKey: .system)
    messages = try values.decode([PromptMessage].self, forKey: .messages)
    guard try values.decodeIfPresent(Bool.self, forKey: .stream) != true else {
      throw DecodingError.dataCorruptedError(forKey: .stream, in: values, debugDescription: "streams are not simulated")
    }
  }
}

private struct AnthropicFailure: Encodable {
  struct Detail: Encodable {
    let message: String
    let type: String
  }

  let error: Detail
  let requestID: String
  let type = "error"
}

private struct AnthropicMessage: Encodable {
  private struct Block: Encodable {
    let text: String
    let type = "text"
  }

  private struct Usage: Encodable {
    let inputTokens: Int
    let outputTokens: Int
    let cacheCreationInputTokens = 0
    let cacheReadInputTokens = 0
  }

  /// `null`, which a nil would leave out.
  private struct Null: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }

  private let content: [Block]
  private let id: String
  private let model: String
  private let role = "assistant"
  private let stopReason: String
  private let stopSequence = Null()
  private let type = "message"
  private let usage: Usage

  init(_ output: ModelOutput, model: String, number: Int) {
    content = output.text.isEmpty ? [] : [Block(text: output.text)]
    id = "msg_sim_\(number)"
    self.model = model
    stopReason =
      switch output.ending {
      case .complete: "end_turn"
      case .cutOff: "max_tokens"
      case .refused: "refusal"
      }
    usage = Usage(inputTokens: output.inputTokens, outputTokens: output.outputTokens)
  }
}
