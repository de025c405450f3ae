public import CampaignRules
public import LanguageModels
public import PushStore
public import Reactors

/// Whoever writes check-ins: a language model, behind its client.
public protocol CheckInWriter {
  /// The most tokens that one call for a prompt may use, read and written, and what they may cost.
  func usageMax(of prompt: CheckInPrompt) -> CampaignUsage

  /// Writes one text. Bounded in time.
  func write(_ prompt: CheckInPrompt, on reactor: isolated Reactor) async -> WrittenText
}

/// What became of a call for a text.
public struct WrittenText: Sendable {
  /// The text, or why there is none: a reason as records name it.
  public var text: Result<String, WritingFailure>
  /// What the call has used, as far as the writer knows.
  public var usage: CampaignUsage

  /// Describes one.
  public init(_ text: Result<String, WritingFailure>, usage: CampaignUsage = CampaignUsage()) {
    self.text = text
    self.usage = usage
  }
}

/// Why nothing was written.
public struct WritingFailure: Error, Equatable, Sendable {
  /// A word for records and metrics, such as `model_timed_out`.
  public let reason: String

  /// Names a failure.
  public init(_ reason: String) { self.reason = reason }
}

/// A language model that writes check-ins, and what its tokens cost.
public struct ModelWriter: CheckInWriter {
  /// Tokens of a text at the most: a token is hardly ever less than two bytes, in any language.
  private static let bytesPerToken = 2
  /// What the interface adds around the texts.
  private static let framingTokens = 50

  private let client: LanguageModelClient
  private let replyTokensMax: Int
  private let inputPrice: Double
  private let outputPrice: Double

  /// - Parameters:
  ///   - replyTokensMax: as the client is configured.
  ///   - inputPrice: of a token that is read, in millionths of a dollar, from 0 to 10,000; outputPrice: of one that is
  ///     written.
  public init(_ client: LanguageModelClient, replyTokensMax: Int, inputPrice: Double, outputPrice: Double) {
    self.client = client
    self.replyTokensMax = replyTokensMax
    self.inputPrice = inputPrice
    self.outputPrice = outputPrice
  }

  /// As if each token were two bytes long, and the reply as long as it may be.
  public func usageMax(of prompt: CheckInPrompt) -> CampaignUsage {
    let bytes = prompt.instructions.utf8.count + prompt.material.utf8.count
    return usage(input: bytes / Self.bytesPerToken + Self.framingTokens, output: replyTokensMax)
  }

  /// A call that may have been paid for, of which the provider does not say how much, counts as the most it can be.
  public func write(_ prompt: CheckInPrompt, on reactor: isolated Reactor) async -> WrittenText {
    do throws(LanguageModelError) {
      let reply = try await client.reply(
        to: LanguageModelPrompt(instructions: prompt.instructions, material: prompt.material), on: reactor)
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
