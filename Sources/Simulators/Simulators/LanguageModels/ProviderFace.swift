internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes

/// One provider's interface.
protocol ProviderFace: SendableMetatype {
  static var provider: SimulatedProvider { get }

  static var path: String { get }

  /// The field with the number of the request.
  static var numberField: HTTPField.Name { get }

  /// The key of a request; nil or empty without one.
  static func key(of request: HTTPServerRequest) -> String?

  static func unauthorized(hasKey: Bool) -> ModelRefusal

  /// Reads a request with the right key.
  static func inquiry(of request: HTTPServerRequest) throws(ModelRefusal) -> ModelInquiry

  static func content(_ output: ModelOutput, model: String, number: Int) -> JSONMembers

  static func content(_ refusal: ModelRefusal, number: Int) -> JSONMembers
}

extension ProviderFace {
  /// Checks a request.
  /// - Parameter key: the right key; nil accepts any.
  static func admit(_ request: HTTPServerRequest, key: String?) throws(ModelRefusal) -> ModelInquiry {
    let shown = self.key(of: request) ?? ""
    guard !shown.isEmpty, key == nil || shown == key else { throw unauthorized(hasKey: !shown.isEmpty) }
    let inquiry = try inquiry(of: request)
    guard !inquiry.material.isEmpty else { throw .malformed("messages: there is no text of the user") }
    return inquiry
  }

  static func read<Document: ControlDocument>(
    _ type: Document.Type, of request: HTTPServerRequest
  ) throws(ModelRefusal) -> Document {
    guard request.head[.contentType]?.lowercased().hasPrefix("application/json") == true else {
      throw .malformed("the content is to be application/json")
    }
    do throws(ProblemDetails) {
      return try Document.read(request.body)
    } catch {
      throw .malformed(error.detail ?? error.title)
    }
  }

  static func response(_ output: ModelOutput, model: String, number: Int) throws -> HTTPServerResponse {
    response(200, try sortedJSON(content(output, model: model, number: number)), number)
  }

  static func response(
    _ refusal: ModelRefusal, number: Int, fields: [String: String] = [:]
  ) throws -> HTTPServerResponse {
    response(refusal.status, try sortedJSON(content(refusal, number: number)), number, fields)
  }

  static func response(
    _ status: Int, _ content: some Sequence<UInt8>, _ number: Int, _ more: [String: String] = [:]
  ) -> HTTPServerResponse {
    var fields: HTTPFields = [.contentType: "application/json", numberField: "req_sim_\(number)"]
    for (name, value) in more { if let name = HTTPField.Name(name) { fields[name] = value } }
    return HTTPServerResponse(status: HTTPResponse.Status(code: status), fields: fields, body: Array(content))
  }
}

/// The interface of a request.
package enum SimulatedProvider: String, Codable, Sendable, CaseIterable {
  /// `POST /v1/messages`
  case anthropic
  /// `POST /v1/chat/completions`
  case openai
}

struct ModelRefusal: Error, Equatable {
  let status: Int
  /// The provider's word; nil for the usual one of the status.
  var type: String?
  /// OpenAI's second word.
  var code: String?
  /// For the developer. Of the request it shows only the names of members.
  let message: String

  static func malformed(_ message: String) -> ModelRefusal {
    ModelRefusal(status: 400, message: message)
  }
}

/// Text in a request. Both interfaces accept a string or blocks of text.
struct PromptText: Decodable {
  let text: String

  private struct Block: Decodable {
    let type: String
    let text: String?
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let string = try? container.decode(String.self) {
      text = string
      return
    }
    let blocks = try container.decode([Block].self)
    guard blocks.allSatisfy({ $0.type == "text" }) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "only blocks of text are simulated")
    }
    text = blocks.compactMap(\.text).joined()
  }
}

struct PromptMessage: Decodable {
  let role: String
  let content: PromptText
}

extension [PromptMessage] {
  /// The texts of a role, one on each line.
  func text(of role: String) -> String {
    filter { $0.role == role }.map(\.content.text).joined(separator: "\n")
  }

  /// The first role outside this set.
  func role(outside roles: Set<String>) -> String? {
    first { !roles.contains($0.role) }?.role
  }
}

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

  static func content(_ output: ModelOutput, model: String, number: Int) -> JSONMembers {
    let reason =
      switch output.ending {
      case .complete: "end_turn"
      case .cutOff: "max_tokens"
      case .refused: "refusal"
      }
    let block: JSONMembers = ["text": output.text, "type": "text"]
    return [
      "content": output.text.isEmpty ? [] : [block], "id": "msg_sim_\(number)", "model": model, "role": "assistant",
      "stop_reason": reason, "stop_sequence": JSONValue.null, "type": "message",
      "usage": [
        "input_tokens": output.inputTokens, "output_tokens": output.outputTokens, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
      ],
    ]
  }

  static func content(_ refusal: ModelRefusal, number: Int) -> JSONMembers {
    [
      "error": ["message": refusal.message, "type": refusal.type ?? usualType(of: refusal.status)],
      "request_id": "req_sim_\(number)", "type": "error",
    ]
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

  static func content(_ output: ModelOutput, model: String, number: Int) -> JSONMembers {
    let reason =
      switch output.ending {
      case .complete: "stop"
      case .cutOff: "length"
      case .refused: "content_filter"
      }
    let choice: JSONMembers = [
      "finish_reason": reason, "index": 0, "message": ["content": output.text, "role": "assistant"],
    ]
    return [
      "choices": [choice], "created": Int(Date().timeIntervalSince1970), "id": "chatcmpl-sim-\(number)", "model": model,
      "object": "chat.completion",
      "usage": [
        "completion_tokens": output.outputTokens, "prompt_tokens": output.inputTokens,
        "total_tokens": output.inputTokens + output.outputTokens,
      ],
    ]
  }

  static func content(_ refusal: ModelRefusal, number: Int) -> JSONMembers {
    let usual = usualWords(of: refusal.status)
    return [
      "error": [
        "message": refusal.message, "type": refusal.type ?? usual.type, "code": refusal.code ?? usual.code,
      ] as JSONMembers
    ]
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
