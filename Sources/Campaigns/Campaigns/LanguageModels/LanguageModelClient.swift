internal import FoundationEssentials
package import HTTPTransfers
internal import HTTPTypes
package import PushRules
package import PushStore
package import Reactors

/// Calls a language model over HTTP, on one reactor.
///
/// A call is one request, plus a retry if the provider says when. Its caller waits meanwhile and makes no other, so that all calls
/// together respect the provider's rate limit. In addition libcurl replaces a kept connection that turns out to be closed before the
/// first byte of the response, as servers close idle ones.
package final class LanguageModelClient {
  /// The largest response. 64 KiB: a reply has 1 KiB, and 2 with its envelope. Some servers add the model's reasoning.
  static let answerBytesMax = 64 * 1024

  private let configuration: LanguageModelConfiguration
  private let transfers: HTTPTransferClient

  /// Makes a client without a connection. Use all other members on the same reactor.
  package init(_ configuration: LanguageModelConfiguration, on reactor: isolated Reactor) {
    self.configuration = configuration
    transfers = HTTPTransferClient(configuration.transfers, on: reactor)
  }

  /// Asks the model and waits for the whole reply.
  ///
  /// Takes at most twice the deadline and the wait before the retry. With a limit it takes no longer than that, and there is no retry.
  func reply(
    to prompt: ModelPrompt, within limit: Duration? = nil, on reactor: isolated Reactor
  ) async -> LanguageModelReply {
    let provider = configuration.provider
    var fields = provider.fields(key: configuration.key)
    fields[.contentType] = "application/json"
    let content = provider.content(
      prompt, model: configuration.model, replyTokensMax: configuration.replyTokensMax)
    let request = HTTPTransferRequest(
      .post, url: configuration.url, fields: fields, body: content,
      deadline: min(limit ?? configuration.deadline, configuration.deadline), bodyBytesMax: Self.answerBytesMax)
    let reply = await reply(to: request, on: reactor)
    guard limit == nil, let wait = reply.retryWait, wait <= configuration.retryWaitMax else { return reply }
    await reactor.sleep(for: wait)
    return await self.reply(to: request, on: reactor)
  }

  /// Ends all calls and closes all connections. Idempotent.
  package func close(on reactor: isolated Reactor) { transfers.close(on: reactor) }

  private func reply(to request: HTTPTransferRequest, on reactor: isolated Reactor) async -> LanguageModelReply {
    do throws(HTTPTransferError) {
      let response = try await transfers.send(request, on: reactor)
      return configuration.provider.reply(in: response, now: Int64(Date().timeIntervalSince1970))
    } catch {
      return LanguageModelReply(text: .failure(.init(error)))
    }
  }
}

extension LanguageModelClient: CheckInWriter {
  /// Assumes two bytes for each token of the prompt, the least of any language, 50 tokens that the interface adds, and a reply of
  /// the greatest length.
  package func usageMax(of prompt: ModelPrompt) -> CampaignUsage {
    let bytes = prompt.instructions.utf8.count + prompt.material.utf8.count
    return priced(CampaignUsage(inputTokens: bytes / 2 + 50, outputTokens: configuration.replyTokensMax))
  }

  /// A call that may have been billed without a reported usage counts with the maximum.
  package func write(
    _ prompt: ModelPrompt, within limit: Duration?, on reactor: isolated Reactor
  ) async -> LanguageModelReply {
    var reply = await reply(to: prompt, within: limit, on: reactor)
    let mayHaveCost = if case .failure(let error) = reply.text { error.mayHaveCost } else { true }
    reply.usage = reply.usage.map(priced) ?? (mayHaveCost ? usageMax(of: prompt) : nil)
    return reply
  }

  private func priced(_ tokens: CampaignUsage) -> CampaignUsage {
    var usage = tokens
    let cost =
      Double(usage.inputTokens) * configuration.inputPrice + Double(usage.outputTokens) * configuration.outputPrice
    usage.costMicrodollars = Int(cost.rounded(.up))
    return usage
  }
}

/// The model that a client calls, its price, and the limits of its calls.
package struct LanguageModelConfiguration: Sendable {
  /// The default model: small and fast, which suffices for two sentences.
  package static let modelDefault = "claude-haiku-4-5-20251001"

  package var provider: LanguageModelProvider

  /// The address: scheme, host, port and perhaps a path, such as `https://models.example.com/proxy`. Trailing slashes
  /// are ignored. The provider's path is appended, which for ``LanguageModelProvider/openAICompatible`` has no `/v1`.
  package var baseURL: String

  /// The caller's; nil for a server without authentication.
  package var key: Secret<String>?

  package var model = modelDefault

  /// The price of a token that the model reads, in millionths of a dollar, from 0 to 10,000.
  package var inputPrice = 0.0
  /// Likewise of a token that it writes.
  package var outputPrice = 0.0

  /// The most tokens of a reply. The provider cuts longer ones. 150: a title and two sentences as JSON have about 80.
  package var replyTokensMax = 150

  /// From the start of a call to the last byte of the response, and again for a retry. 2 s: the time that a run gives one text.
  package var deadline = Duration.seconds(2)

  /// The longest wait before a retry; the call fails if the provider asks for more. 5 s: four times the 1.2 s between
  /// two requests at Anthropic's lowest limit, fifty a minute.
  package var retryWaitMax = Duration.seconds(5)

  package var trust = HTTPTransferTrust.system

  /// The standard configuration of a provider.
  /// - Parameter baseURL: nil for the provider's own.
  package init(_ provider: LanguageModelProvider, baseURL: String? = nil, key: Secret<String>? = nil) {
    self.provider = provider
    self.baseURL = baseURL ?? provider.addresses.base
    self.key = key
  }

  var url: String { base + provider.addresses.replies }

  /// The base URL without trailing slashes.
  private var base: String { baseURL.replacing(/\/+$/, with: "") }

  fileprivate var transfers: HTTPTransferConfiguration {
    var transfers = HTTPTransferConfiguration()
    transfers.trust = trust
    return transfers
  }

  /// Requests the provider's list of models, which is free and needs the key.
  /// - Returns: the status of the response.
  package func statusOfModels(on reactor: isolated Reactor) async throws(HTTPTransferError) -> Int {
    let client = HTTPTransferClient(transfers, on: reactor)
    defer { client.close(on: reactor) }
    let request = HTTPTransferRequest(
      url: base + provider.addresses.models, fields: provider.fields(key: key), deadline: deadline)
    return try await client.send(request, on: reactor).status.code
  }
}
