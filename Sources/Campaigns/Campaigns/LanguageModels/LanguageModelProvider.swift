internal import HTTPTransfers
internal import HTTPTypes
internal import PushRules
internal import PushStore

/// A provider's HTTP interface: how its requests are written and its responses are read. Values in, values out.
package enum LanguageModelProvider: Sendable, CaseIterable {
  /// Anthropic's Messages. Source: docs.claude.com, "Messages" and "Handling stop reasons".
  case anthropicMessages
  /// OpenAI's chat completions, which many servers offer too. Source: platform.openai.com, "Chat Completions".
  case openAICompatible

  /// The provider's own base URL, and the paths after any base. OpenAI's libraries make the version part of the base; Anthropic's
  /// do not.
  var addresses: (base: String, replies: String, models: String) {
    switch self {
    case .anthropicMessages: ("https://api.anthropic.com", "/v1/messages", "/v1/models")
    case .openAICompatible: ("https://api.openai.com/v1", "/chat/completions", "/models")
    }
  }

  func fields(key: Credential?) -> HTTPFields {
    var fields = HTTPFields()
    switch self {
    case .anthropicMessages:
      // The version of the interface, unchanged since 2023.
      fields[.anthropicVersion] = "2023-06-01"
      fields[.xAPIKey] = key?.text
    case .openAICompatible: fields[.authorization] = key.map { "Bearer \($0.text)" }
    }
    return fields
  }

  /// The content of a request, as JSON. Only documented members; sampling parameters keep their defaults.
  func content(_ prompt: ModelPrompt, model: String, replyTokensMax: Int) -> [UInt8] {
    let system: PayloadValue? = prompt.instructions.isEmpty ? nil : .string(prompt.instructions)
    var messages: [PayloadValue] = [.object(["content": .string(prompt.material), "role": "user"])]
    if self == .openAICompatible, let system {
      messages.insert(.object(["content": system, "role": "system"]), at: 0)
    }
    let content: PayloadObject = [
      // Most compatible servers do not know OpenAI's successor, max_completion_tokens.
      "max_tokens": .integer(Int64(replyTokensMax)), "messages": .array(messages), "model": .string(model),
      "stream": false, "system": self == .anthropicMessages ? system : nil,
    ]
    return content.encoded()
  }

  /// - Parameter now: Unix seconds.
  func reply(in response: HTTPTransferResponse, now: Int64) throws(LanguageModelError) -> LanguageModelReply {
    let status = response.status.code
    guard response.status.kind == .successful else {
      let wait = RetryAdvice.wait(status: status, response.fields, now: now)
      throw LanguageModelError(.init(status: status), retryWait: wait)
    }
    guard let content = PayloadObject(reading: response.body) else { throw LanguageModelError(.unusableReply) }
    let usage = try CampaignUsage(content.object("usage"))
    let (reply, ending) = text(in: content)
    switch ending {
    case "max_tokens", "model_context_window_exceeded", "length":
      throw LanguageModelError(.truncatedReply, usage: usage)
    case "refusal", "content_filter": throw LanguageModelError(.declined, usage: usage)
    default:
      if reply.allSatisfy(\.isWhitespace) { throw LanguageModelError(.unusableReply, usage: usage) }
      return LanguageModelReply(text: reply, usage: usage)
    }
  }

  /// The text, which may be empty, and the provider's word for why it ends.
  private func text(in content: PayloadObject) -> (text: String, ending: String?) {
    switch self {
    case .anthropicMessages:
      let blocks = content.objects("content").filter { $0.text("type") == "text" }
      return (blocks.compactMap { $0.text("text") }.joined(), content.text("stop_reason"))
    case .openAICompatible:
      // The request asks for one.
      let choice = content.objects("choices").first
      let message = choice?.object("message")
      let isRefusal = message?.text("refusal")?.isEmpty == false
      return (message?.text("content") ?? "", isRefusal ? "refusal" : choice?.text("finish_reason"))
    }
  }
}

extension CampaignUsage {
  /// Ten times the largest context, so that sums and prices of any reported counts stay in range.
  static let tokensMax = 10_000_000

  /// Reads the tokens, by either provider's names. Some servers leave one count out.
  /// - Throws: for a count that is no whole number.
  fileprivate init?(_ usage: PayloadObject?) throws(LanguageModelError) {
    guard let usage else { return nil }
    func count(_ names: String...) throws(LanguageModelError) -> Int {
      guard let name = names.first(where: { usage[$0] != nil && usage[$0] != .null }) else { return 0 }
      guard let count = usage.integer(name) else { throw LanguageModelError(.unusableReply) }
      return min(max(0, Int(count)), Self.tokensMax)
    }
    self.init(
      inputTokens: try count("input_tokens", "prompt_tokens"),
      outputTokens: try count("output_tokens", "completion_tokens"))
  }
}

enum RetryAdvice {
  /// How long to wait from the response on, never negative; nil unless the response says when to retry.
  ///
  /// Anthropic and OpenAI say in `x-should-retry` whether a retry helps, and in `retry-after-ms` what `retry-after` says in
  /// seconds. Their own libraries read all three.
  /// - Parameter now: Unix seconds.
  static func wait(status: Int, _ fields: HTTPFields, now: Int64) -> Duration? {
    // A mistake in the request itself stays.
    let mayPass = [408, 409, 429].contains(status) || status >= 500
    guard mayPass, fields[.xShouldRetry]?.lowercased() != "false" else { return nil }
    // A year means never, without overflow.
    let secondsMax = 31_536_000.0
    if let seconds = number(fields[.retryAfterMilliseconds]).map({ $0 / 1000 }) ?? number(fields[.retryAfter]) {
      return .seconds(min(seconds, secondsMax))
    }
    return RetryAfter.wait(fields[.retryAfter], date: fields[.date], atMost: .seconds(secondsMax), now: now)
  }

  /// Digits with at most one point; no sign, exponent or infinity.
  private static func number(_ text: String?) -> Double? {
    guard let text, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else { return nil }
    return Double(text)
  }
}

extension HTTPField.Name {
  fileprivate static let xAPIKey = HTTPField.Name("x-api-key")!
  fileprivate static let anthropicVersion = HTTPField.Name("anthropic-version")!
  fileprivate static let retryAfterMilliseconds = HTTPField.Name("retry-after-ms")!
  fileprivate static let xShouldRetry = HTTPField.Name("x-should-retry")!
}
