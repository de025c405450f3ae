/// What a call has cost, in tokens as the provider counts them.
public struct LanguageModelUsage: Sendable, Equatable {
  /// Tokens of the prompt, from 0.
  public let inputTokens: Int

  /// Tokens of the reply, from 0.
  public let outputTokens: Int

  /// More than any call can use, so that what a provider makes up can be added and priced: ten times the largest context.
  static let tokensMax = 10_000_000

  /// Counts, each within 0 and ``tokensMax``; a provider may say anything.
  public init(inputTokens: Int, outputTokens: Int) {
    self.inputTokens = min(max(0, inputTokens), Self.tokensMax)
    self.outputTokens = min(max(0, outputTokens), Self.tokensMax)
  }
}
