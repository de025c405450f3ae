internal import FoundationEssentials

/// What a simulated model has written.
struct ModelOutput: Equatable {
  enum Ending: Equatable {
    case complete
    case cutOff
    case refused
  }

  let text: String
  let ending: Ending
  let inputTokens: Int
  let outputTokens: Int

  /// A whole reply, unless the request leaves it too few tokens.
  static func reply(_ text: String?, to inquiry: ModelInquiry) -> ModelOutput {
    let text = text ?? written(for: inquiry)
    let tokens = TokenCount.of(text)
    guard let tokensMax = inquiry.tokensMax, tokens > tokensMax else {
      return ModelOutput(text: text, ending: .complete, inputTokens: inquiry.tokens, outputTokens: tokens)
    }
    let cut = String(text.prefix(tokensMax * TokenCount.characters))
    return ModelOutput(text: cut, ending: .cutOff, inputTokens: inquiry.tokens, outputTokens: tokensMax)
  }

  /// The first half of a reply.
  static func cut(_ text: String?, to inquiry: ModelInquiry) -> ModelOutput {
    let text = text ?? written(for: inquiry)
    let half = String(text.prefix(text.count / 2))
    return ModelOutput(
      text: half, ending: .cutOff, inputTokens: inquiry.tokens, outputTokens: inquiry.tokensMax ?? TokenCount.of(half))
  }

  /// No reply.
  static func refusal(to inquiry: ModelInquiry) -> ModelOutput {
    ModelOutput(text: "", ending: .refused, inputTokens: inquiry.tokens, outputTokens: 1)
  }

  /// The push that the prompt's decision asks for, as JSON.
  private static func written(for inquiry: ModelInquiry) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let json = try? encoder.encode(SentenceBook(inquiry.decision).push) else {
      preconditionFailure("two texts cannot be written as JSON")
    }
    return String(decoding: json, as: UTF8.self)
  }
}
