/// A successful answer of Anthropic's.
struct AnthropicMessage: Encodable {
  private struct Block: Encodable {
    let text: String
    let type = "text"
  }

  private struct Usage: Encodable {
    let inputTokens: Int
    let outputTokens: Int
    let cacheCreationInputTokens = 0
    let cacheReadInputTokens = 0

    enum CodingKeys: String, CodingKey {
      case inputTokens = "input_tokens"
      case outputTokens = "output_tokens"
      case cacheCreationInputTokens = "cache_creation_input_tokens"
      case cacheReadInputTokens = "cache_read_input_tokens"
    }
  }

  private let content: [Block]
  private let identifier: String
  private let model: String
  private let role = "assistant"
  private let stopReason: String
  private let type = "message"
  private let usage: Usage

  private enum CodingKeys: String, CodingKey {
    case content, model, role, type, usage
    case identifier = "id"
    case stopReason = "stop_reason"
    case stopSequence = "stop_sequence"
  }

  init(_ output: ModelOutput, model: String, number: Int) {
    content = output.text.isEmpty ? [] : [Block(text: output.text)]
    identifier = "msg_sim_\(number)"
    self.model = model
    stopReason =
      switch output.ending {
      case .complete: "end_turn"
      case .cutOff: "max_tokens"
      case .refused: "refusal"
      }
    usage = Usage(inputTokens: output.inputTokens, outputTokens: output.outputTokens)
  }

  /// By hand for the sake of `stop_sequence`, which is there and null.
  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(content, forKey: .content)
    try values.encode(identifier, forKey: .identifier)
    try values.encode(model, forKey: .model)
    try values.encode(role, forKey: .role)
    try values.encode(stopReason, forKey: .stopReason)
    try values.encodeNil(forKey: .stopSequence)
    try values.encode(type, forKey: .type)
    try values.encode(usage, forKey: .usage)
  }
}
