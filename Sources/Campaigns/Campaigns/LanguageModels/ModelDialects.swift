internal import FoundationEssentials
internal import HTTPTransfers
internal import HTTPTypes
internal import PushRules

/// How a provider's requests are written and its responses are read. Values in, values out.
protocol ModelDialect {
  static func fields(key: Credential?) -> HTTPFields

  /// The content of a request, as JSON. Only documented members; sampling parameters keep their defaults.
  static func content(_ prompt: ModelPrompt, model: String, replyTokensMax: Int) throws -> Data

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

/// Anthropic's Messages. Source: docs.claude.com, "Messages", "Handling stop reasons" and "Errors".
enum MessagesDialect: ModelDialect {
  /// The version of the interface, unchanged since 2023.
  private static let version = "2023-06-01"

  static func fields(key: Credential?) -> HTTPFields {
    var fields: HTTPFields = [.anthropicVersion: version]
    fields[.xAPIKey] = key?.text
    return fields
  }

  static func content(_ prompt: ModelPrompt, model: String, replyTokensMax: Int) throws -> Data {
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

/// OpenAI's chat completions, which compatible servers implement too. Source: platform.openai.com, "Chat Completions"
/// and "Error codes".
enum ChatCompletionsDialect: ModelDialect {
  static func fields(key: Credential?) -> HTTPFields {
    var fields = HTTPFields()
    fields[.authorization] = key.map { "Bearer \($0.text)" }
    return fields
  }

  static func content(_ prompt: ModelPrompt, model: String, replyTokensMax: Int) throws -> Data {
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

/// The meaning of a provider's response.
enum AnswerDisposition {
  case reply(text: String, usage: LanguageModelUsage?)
  /// No reply, and a retry will not help.
  case failure(LanguageModelError)
  /// No reply, but a retry may succeed after this wait.
  case retry(after: Duration, LanguageModelError)

  /// Reads a response.
  /// - Parameter now: Unix seconds.
  init(_ response: HTTPTransferResponse, _ dialect: any ModelDialect.Type, now: Double) {
    guard response.status.kind == .successful else {
      let error = Self.refusal(response, dialect)
      let wait = RetryAdvice.wait(status: response.status.code, response.fields, now: now)
      self = wait.map { .retry(after: $0, error) } ?? .failure(error)
      return
    }
    do {
      self.init(try dialect.answer(Data(response.body)), status: response.status.code)
    } catch {
      self = .failure(LanguageModelError(.unusableReply, status: response.status.code))
    }
  }

  private init(_ answer: ModelAnswer, status: Int) {
    let code: LanguageModelError.Code? =
      switch answer.ending {
      case .cutOff: .truncatedReply
      case .declined: .declined
      case .complete: answer.text.allSatisfy(\.isWhitespace) ? .unusableReply : nil
      }
    self =
      code.map { .failure(LanguageModelError($0, status: status, usage: answer.usage)) }
      ?? .reply(text: answer.text, usage: answer.usage)
  }

  private static func refusal(
    _ response: HTTPTransferResponse, _ dialect: any ModelDialect.Type
  ) -> LanguageModelError {
    let type = dialect.failureType(Data(response.body)).flatMap { $0.wholeMatch(of: /[a-z_]{1,64}/) == nil ? nil : $0 }
    return LanguageModelError(code(of: response.status.code), status: response.status.code, providerType: type)
  }

  private static func code(of status: Int) -> LanguageModelError.Code {
    switch status {
    case 429: .rateLimited
    case 503, 529: .overloaded
    case 500...: .serverFailure
    case 400...: .refusedRequest
    default: .unusableReply
    }
  }
}

enum RetryAdvice {
  /// How long to wait from the response on, never negative; nil unless the response says when to retry. Anthropic and OpenAI say in `x-should-retry` whether a retry helps,
  /// and in `retry-after-ms` what `retry-after` says in whole seconds. Their own libraries read all three.
  /// - Parameter now: Unix seconds.
  static func wait(status: Int, _ fields: HTTPFields, now: Double) -> Duration? {
    // A mistake in the request itself stays.
    let mayPass = [408, 409, 429].contains(status) || status >= 500
    guard mayPass, fields[.xShouldRetry]?.lowercased() != "false",
      let seconds = fields[.retryAfterMilliseconds].flatMap(number).map({ $0 / 1000 }) ?? seconds(fields, now: now)
    else { return nil }
    // A year means never, without overflow.
    return .seconds(min(max(0, seconds), 31_536_000))
  }

  /// Seconds, or a date (RFC 9110 section 10.2.3). A date is compared with the response's own date if it has one,
  /// because two clocks may differ by more than the wait.
  private static func seconds(_ fields: HTTPFields, now: Double) -> Double? {
    guard let text = fields[.retryAfter] else { return nil }
    if let seconds = number(text) { return seconds }
    guard let then = RetryAfter.unixSeconds(text) else { return nil }
    let answered = fields[.date].flatMap(RetryAfter.unixSeconds).map(Double.init)
    return Double(then) - (answered ?? now)
  }

  /// Digits with at most one point; no sign, exponent or infinity.
  private static func number(_ text: String) -> Double? {
    text.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") } ? Double(text) : nil
  }
}

extension HTTPField.Name {
  fileprivate static let retryAfterMilliseconds = HTTPField.Name("retry-after-ms")!
  fileprivate static let xShouldRetry = HTTPField.Name("x-should-retry")!
}
