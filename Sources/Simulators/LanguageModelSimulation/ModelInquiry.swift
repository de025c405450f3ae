internal import SimulationControl

/// A valid request, independent of the provider.
struct ModelInquiry: Equatable {
  let provider: SimulatedProvider
  let model: String
  /// The system prompt; empty for none.
  let instructions: String
  /// All messages of the user, one on each line.
  let material: String
  /// The most tokens of the reply; nil for no limit.
  let tokensMax: Int?

  /// Whether the prompt contains a text; nil matches every prompt.
  func contains(_ text: String?) -> Bool {
    guard let text, !text.isEmpty else { return true }
    return material.firstRange(of: text) != nil || instructions.firstRange(of: text) != nil
  }

  var decision: DecisionBlock { DecisionBlock(in: material + "\n" + instructions) }

  var tokens: Int { TokenCount.of(instructions) + TokenCount.of(material) }
}

/// Tokens of simulated models: four characters each, about as in English.
enum TokenCount {
  static let characters = 4

  static func of(_ text: String) -> Int { (text.count + characters - 1) / characters }
}

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

  /// A whole reply, cut at the request's token limit.
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

  static func refusal(to inquiry: ModelInquiry) -> ModelOutput {
    ModelOutput(text: "", ending: .refused, inputTokens: inquiry.tokens, outputTokens: 1)
  }

  /// The push for the prompt's decision, as JSON.
  private static func written(for inquiry: ModelInquiry) -> String {
    guard let json = try? sortedJSON(SentenceBook(inquiry.decision).push) else {
      preconditionFailure("two texts cannot be written as JSON")
    }
    return String(decoding: json, as: UTF8.self)
  }
}
