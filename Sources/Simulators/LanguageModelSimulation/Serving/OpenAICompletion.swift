internal import FoundationEssentials

/// A successful answer of OpenAI's.
struct OpenAICompletion: Encodable {
  private struct Message: Encodable {
    let content: String
    let role = "assistant"
  }

  private struct Choice: Encodable {
    let finishReason: String
    let index = 0
    let message: Message

    enum CodingKeys: String, CodingKey {
      case index, message
      case finishReason = "finish_reason"
    }
  }

  private struct Usage: Encodable {
    let completionTokens: Int
    let promptTokens: Int
    let totalTokens: Int

    enum CodingKeys: String, CodingKey {
      case completionTokens = "completion_tokens"
      case promptTokens = "prompt_tokens"
      case totalTokens = "total_tokens"
    }
  }

  private let choices: [Choice]
  /// Unix seconds.
  private let created: Int
  private let identifier: String
  private let model: String
  private let object = "chat.completion"
  private let usage: Usage

  private enum CodingKeys: String, CodingKey {
    case choices, created, model, object, usage
    case identifier = "id"
  }

  init(_ output: ModelOutput, model: String, number: Int) {
    let reason =
      switch output.ending {
      case .complete: "stop"
      case .cutOff: "length"
      case .refused: "content_filter"
      }
    choices = [Choice(finishReason: reason, message: Message(content: output.text))]
    created = Int(Date().timeIntervalSince1970)
    identifier = "chatcmpl-sim-\(number)"
    self.model = model
    usage = Usage(
      completionTokens: output.outputTokens, promptTokens: output.inputTokens,
      totalTokens: output.inputTokens + output.outputTokens)
  }
}
