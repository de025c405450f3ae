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
