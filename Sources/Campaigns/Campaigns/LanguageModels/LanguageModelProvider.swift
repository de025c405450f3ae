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

  func fields(key: Secret<String>?) -> HTTPFields {
    var fields = HTTPFields()
    switch self {
    case .anthropicMessages:
      // The version of the interface, unchanged since 2023.
      fields[.anthropicVersion] = "2023-06-01"
      fields[.xAPIKey] = key?.exposed
    case .openAICompatible: fields[.authorization] = key.map { "Bearer \($0.exposed)" }
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
  func reply(in response: HTTPTransferResponse, now: Int64) -> LanguageModelReply {
    let status = response.status.code
    guard response.status.kind == .successful else {
      // A mistake in the request itself stays.
      let mayPass = [408, 409, 429].contains(status) || status >= 500
      let wait = RetryAfter.wait(
        response.fields[.retryAfter], date: response.fields[.date], atMost: .seconds(31_536_000), now: now)
      return LanguageModelReply(text: .failure(.init(status: status)), retryWait: mayPass ? wait : nil)
    }
    guard let content = PayloadObject(reading: response.body) else {
      return LanguageModelReply(text: .failure(.unusableReply))
    }
    let (text, ending) = text(in: content)
    let reply: Result<String, LanguageModelError> =
      switch ending {
      case "max_tokens", "model_context_window_exceeded", "length": .failure(.truncatedReply)
      case "refusal", "content_filter": .failure(.declined)
      default: text.allSatisfy(\.isWhitespace) ? .failure(.unusableReply) : .success(text)
      }
    return LanguageModelReply(text: reply, usage: CampaignUsage(content.object("usage")))
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

  /// Reads the tokens, by either provider's names. Some servers leave one count out. Nil for a count that is no whole number.
  fileprivate init?(_ usage: PayloadObject?) {
    guard let usage else { return nil }
    func count(_ names: String...) -> Int? {
      guard let name = names.first(where: { usage[$0] != nil && usage[$0] != .null }) else { return 0 }
      return usage.integer(name).map { min(max(0, Int($0)), Self.tokensMax) }
    }
    guard let input = count("input_tokens", "prompt_tokens"), let output = count("output_tokens", "completion_tokens")
    else { return nil }
    self.init(inputTokens: input, outputTokens: output)
  }
}

extension HTTPField.Name {
  fileprivate static let xAPIKey = HTTPField.Name("x-api-key")!
  fileprivate static let anthropicVersion = HTTPField.Name("anthropic-version")!
}
