/// What was answered to a request.
public struct RequestOutcome: Codable, Equatable, Sendable {
  /// `reply`, `cut`, `refusal`, `failure`, `raw` or `close`.
  public let kind: String
  /// The HTTP status; nil when the connection was closed instead.
  public let status: Int?
  /// What was written, or the raw content; nil for none.
  public let text: String?
  /// Tokens of the prompt, as the answer said; 0 when it said nothing of them.
  public let inputTokens: Int
  /// Tokens of the reply, as the answer said.
  public let outputTokens: Int

  enum CodingKeys: String, CodingKey {
    case kind, status, text
    case inputTokens = "input_tokens"
    case outputTokens = "output_tokens"
  }

  init(_ kind: String, status: Int? = nil, text: String? = nil) {
    self.kind = kind
    self.status = status
    self.text = text
    (inputTokens, outputTokens) = (0, 0)
  }

  init(_ output: ModelOutput) {
    kind =
      switch output.ending {
      case .complete: "reply"
      case .cutOff: "cut"
      case .refused: "refusal"
      }
    status = 200
    text = output.text
    (inputTokens, outputTokens) = (output.inputTokens, output.outputTokens)
  }
}
