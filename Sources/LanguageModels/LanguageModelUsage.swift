/// What a call has cost, in tokens as the provider counts them.
public struct LanguageModelUsage: Sendable, Equatable {
  /// Tokens of the prompt, from 0.
  public let inputTokens: Int

  /// Tokens of the reply, from 0.
  public let outputTokens: Int

  /// Counts; negative ones count as 0.
  public init(inputTokens: Int, outputTokens: Int) {
    self.inputTokens = max(0, inputTokens)
    self.outputTokens = max(0, outputTokens)
  }
}
