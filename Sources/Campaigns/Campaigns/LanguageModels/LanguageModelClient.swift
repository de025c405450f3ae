internal import FoundationEssentials
package import HTTPTransfers
internal import HTTPTypes
package import PushStore
package import Reactors

/// Calls a language model over HTTP, on one reactor.
///
/// A call is one request, plus a retry if the provider says when. The call keeps its turn during the wait, so that all
/// calls together respect the provider's rate limit. In addition libcurl replaces a kept connection that turns out to
/// be closed before the first byte of the response, as servers close idle ones.
package final class LanguageModelClient {
  /// The largest response. 64 KiB: a reply has 1 KiB, and 2 with its envelope. Some servers add the model's reasoning.
  static let answerBytesMax = 64 * 1024

  private let configuration: LanguageModelConfiguration
  private let transfers: HTTPTransferClient
  /// A signal for each call, in their order, to end its waits. The first `callsMax` have their turn.
  private var calls: [Signal] = []
  private var isClosed = false

  /// Makes a client without a connection. Use all other members on the same reactor.
  package init(_ configuration: LanguageModelConfiguration, on reactor: isolated Reactor) {
    self.configuration = configuration
    transfers = HTTPTransferClient(configuration.transfers, on: reactor)
  }

  /// Calls that have their turn or wait for it.
  var pendingCount: Int { calls.count }

  /// Asks the model and waits for the whole reply. Ends early when the calling task is cancelled.
  ///
  /// Takes the wait for its turn, at most twice the deadline, and at most the wait before the retry. With a limit it takes no
  /// longer than that, and there is no retry.
  /// - Throws: ``LanguageModelError``. The client stays usable, except after `closed`.
  func reply(
    to prompt: ModelPrompt, within limit: Duration? = nil, on reactor: isolated Reactor
  ) async throws(LanguageModelError) -> LanguageModelReply {
    let begunAt = Reactor.now
    if isClosed { throw LanguageModelError(.closed) }
    if calls.count >= configuration.callsMax + configuration.waitingMax { throw LanguageModelError(.busy) }
    let call = Signal()
    calls.append(call)
    defer { end(call, on: reactor) }
    if calls.count > configuration.callsMax { try await wait(for: call, atMost: limit, on: reactor) }
    var request = request(prompt)
    if let limit {
      let rest = limit - .nanoseconds(Int64(clamping: Reactor.now - begunAt))
      guard rest > .zero else { throw LanguageModelError(.busy) }
      request.deadline = min(rest, request.deadline)
    }
    do throws(LanguageModelError) {
      return try await reply(to: request, on: reactor)
    } catch {
      guard limit == nil, let wait = error.retryWait, wait <= configuration.retryWaitMax else { throw error }
      try await self.wait(for: call, atMost: wait, on: reactor)
      return try await reply(to: request, on: reactor)
    }
  }

  /// Cancels all calls and closes all connections. Idempotent.
  package func close(on reactor: isolated Reactor) {
    isClosed = true
    for call in calls { call.signal(on: reactor) }
    transfers.close(on: reactor)
  }

  /// Gives the turn of a call, if it had one, to the call that has waited longest.
  private func end(_ call: Signal, on reactor: isolated Reactor) {
    guard let place = calls.firstIndex(where: { $0 === call }) else { return }
    calls.remove(at: place)
    let last = configuration.callsMax - 1
    if place <= last, calls.indices.contains(last) { calls[last].signal(on: reactor) }
  }

  /// Waits for the signal or the limit. Cancellation and close end the wait too.
  private func wait(
    for call: Signal, atMost limit: Duration?, on reactor: isolated Reactor
  ) async throws(LanguageModelError) {
    let bound = ReactorBound(call, on: reactor)
    await withTaskCancellationHandler {
      _ = await call.wait(for: limit, on: reactor)
    } onCancel: {
      bound.submit { $0.signal(on: $1) }
    }
    if isClosed { throw LanguageModelError(.closed) }
    if Task.isCancelled { throw LanguageModelError(.cancelled) }
  }

  private func request(_ prompt: ModelPrompt) -> HTTPTransferRequest {
    let provider = configuration.provider
    var fields = provider.fields(key: configuration.key)
    fields[.contentType] = "application/json"
    let content = provider.content(
      prompt, model: configuration.model, replyTokensMax: configuration.replyTokensMax)
    return HTTPTransferRequest(
      .post, url: configuration.url, fields: fields, body: content, deadline: configuration.deadline,
      bodyBytesMax: Self.answerBytesMax)
  }

  private func reply(
    to request: HTTPTransferRequest, on reactor: isolated Reactor
  ) async throws(LanguageModelError) -> LanguageModelReply {
    let response: HTTPTransferResponse
    do throws(HTTPTransferError) {
      response = try await transfers.send(request, on: reactor)
    } catch {
      throw LanguageModelError(.init(error))
    }
    return try configuration.provider.reply(in: response, now: Int64(Date().timeIntervalSince1970))
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
  ) async -> WrittenText {
    do throws(LanguageModelError) {
      let reply = try await reply(to: prompt, within: limit, on: reactor)
      return WrittenText(text: .success(reply.text), usage: reply.usage.map(priced) ?? usageMax(of: prompt))
    } catch {
      let usage = error.usage.map(priced) ?? (error.code.mayHaveCost ? usageMax(of: prompt) : CampaignUsage())
      return WrittenText(text: .failure(error.code), usage: usage)
    }
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

  /// The caller's secret; nil for a server without authentication.
  package var key: Credential?

  package var model = modelDefault

  /// The price of a token that the model reads, in millionths of a dollar, from 0 to 10,000.
  package var inputPrice = 0.0
  /// Likewise of a token that it writes.
  package var outputPrice = 0.0

  /// The most tokens of a reply. The provider cuts longer ones. 150: a title and two sentences as JSON have about 80.
  package var replyTokensMax = 150

  /// From the start of a call's turn to the last byte of the response, and again for a retry. 2 s: the time that a run
  /// gives one text.
  package var deadline = Duration.seconds(2)

  /// Concurrent calls on one reactor; others wait. 5: the users that a run evaluates at the same time.
  package var callsMax = 5

  /// Waiting calls; further ones are refused. 100: twenty rounds of five. The last one starts after three minutes even
  /// if every call takes nine seconds, which is two deadlines and a wait.
  package var waitingMax = 100

  /// The longest wait before a retry; the call fails if the provider asks for more. 5 s: four times the 1.2 s between
  /// two requests at Anthropic's lowest limit, fifty a minute.
  package var retryWaitMax = Duration.seconds(5)

  package var trust = HTTPTransferTrust.system

  /// The standard configuration of a provider.
  /// - Parameter baseURL: nil for the provider's own.
  package init(_ provider: LanguageModelProvider, baseURL: String? = nil, key: Credential? = nil) {
    self.provider = provider
    self.baseURL = baseURL ?? provider.addresses.base
    self.key = key
  }

  var url: String { base + provider.addresses.replies }

  /// The base URL without trailing slashes.
  private var base: String {
    var base = baseURL[...]
    while base.last == "/" { base.removeLast() }
    return String(base)
  }

  /// One transfer for each active call, so that a call never waits twice.
  var transfers: HTTPTransferConfiguration {
    var transfers = HTTPTransferConfiguration()
    transfers.transfersMax = callsMax
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

/// What proves the service to a host. No description of it, or of a value that contains it, reveals it.
package struct Credential: Sendable, Equatable, Undisclosed {
  let text: String

  /// - Parameter text: as the host's owner issued it, trimmed: a key, or the value of an Authorization field, such as `Bearer …`.
  package init(_ text: String) { self.text = text }
}
