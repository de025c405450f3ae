/// Whose interface a request came over.
public enum SimulatedProvider: String, Codable, Sendable, CaseIterable {
  /// `POST /v1/messages`
  case anthropic
  /// `POST /v1/chat/completions`
  case openai
}
