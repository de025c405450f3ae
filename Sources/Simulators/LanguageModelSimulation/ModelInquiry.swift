internal import FoundationEssentials

/// A request that a provider would let in, in terms of neither.
struct ModelInquiry: Equatable {
  let provider: SimulatedProvider
  let model: String
  /// The system prompt; empty for none.
  let instructions: String
  /// All messages of the user, one on each line.
  let material: String
  /// Tokens that the reply may have; nil for as many as it takes.
  let tokensMax: Int?

  /// Whether a text stands in the prompt; nil stands in every one.
  func contains(_ text: String?) -> Bool {
    guard let text, !text.isEmpty else { return true }
    return material.firstRange(of: text) != nil || instructions.firstRange(of: text) != nil
  }

  /// What the prompt's decision makes of itself.
  var decision: DecisionBlock { DecisionBlock(in: material + "\n" + instructions) }

  /// The tokens of both parts.
  var tokens: Int { TokenCount.of(instructions) + TokenCount.of(material) }
}

/// Tokens as simulated models count them: four characters each, which English text has about.
enum TokenCount {
  static let characters = 4

  static func of(_ text: String) -> Int { (text.count + characters - 1) / characters }
}

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
