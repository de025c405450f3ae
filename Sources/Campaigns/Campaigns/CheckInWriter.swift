package import PushStore
package import Reactors

/// Writes check-ins with a language model.
package protocol CheckInWriter {
  /// The most tokens that one call may read and write, and their price.
  func usageMax(of prompt: CheckInPrompt) -> CampaignUsage

  /// Writes one text within a bounded time.
  /// - Parameter limit: the time; nil for the writer's own.
  func write(_ prompt: CheckInPrompt, within limit: Duration?, on reactor: isolated Reactor) async -> WrittenText
}

/// The result of a call for a text.
package struct WrittenText: Sendable {
  package var text: Result<String, WritingFailure>
  /// The usage of the call, as far as known.
  package var usage: CampaignUsage

  package init(_ text: Result<String, WritingFailure>, usage: CampaignUsage = CampaignUsage()) {
    self.text = text
    self.usage = usage
  }
}

package struct WritingFailure: Error, Equatable, Sendable {
  /// A word for records and metrics, such as `model_timed_out`.
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}

/// A language model that writes check-ins, with its prices.
package struct ModelWriter: CheckInWriter {
  /// The least bytes of a token, in any language.
  private static let bytesPerToken = 2
  /// Tokens that the interface adds to the texts.
  private static let framingTokens = 50

  private let client: LanguageModelClient
  private let replyTokensMax: Int
  private let inputPrice: Double
  private let outputPrice: Double

  /// - Parameters:
  ///   - replyTokensMax: the client's setting.
  ///   - inputPrice: the price of a token that the model reads, in millionths of a dollar, from 0 to 10,000.
  ///   - outputPrice: likewise of a token that it writes.
  package init(_ client: LanguageModelClient, replyTokensMax: Int, inputPrice: Double, outputPrice: Double) {
    self.client = client
    self.replyTokensMax = replyTokensMax
    self.inputPrice = inputPrice
    self.outputPrice = outputPrice
  }

  /// Assumes two bytes for each token of the prompt, and a reply of the greatest length.
  package func usageMax(of prompt: CheckInPrompt) -> CampaignUsage {
    let bytes = prompt.instructions.utf8.count + prompt.material.utf8.count
    return usage(input: bytes / Self.bytesPerToken + Self.framingTokens, output: replyTokensMax)
  }

  /// A call that may have been billed without a reported usage counts with the maximum.
  package func write(
    _ prompt: CheckInPrompt, within limit: Duration?, on reactor: isolated Reactor
  ) async -> WrittenText {
    do throws(LanguageModelError) {
      let reply = try await client.reply(
        to: LanguageModelPrompt(instructions: prompt.instructions, material: prompt.material), within: limit,
        on: reactor)
      return WrittenText(.success(reply.text), usage: reply.usage.map(usage) ?? usageMax(of: prompt))
    } catch {
      let known = error.usage.map(usage) ?? (error.code.mayHaveCost ? usageMax(of: prompt) : CampaignUsage())
      return WrittenText(.failure(WritingFailure(error.reason)), usage: known)
    }
  }

  private func usage(_ usage: LanguageModelUsage) -> CampaignUsage {
    self.usage(input: usage.inputTokens, output: usage.outputTokens)
  }

  private func usage(input: Int, output: Int) -> CampaignUsage {
    var usage = CampaignUsage()
    usage.inputTokens = input
    usage.outputTokens = output
    usage.costMicrodollars = Int((Double(input) * inputPrice + Double(output) * outputPrice).rounded(.up))
    return usage
  }
}

extension LanguageModelError.Code {
  /// Whether the model may have written something before the call failed.
  fileprivate var mayHaveCost: Bool {
    switch self {
    case .timedOut, .connectionLost, .unusableReply, .truncatedReply, .declined, .replyTooLarge, .cancelled, .closed:
      true
    default: false
    }
  }
}
