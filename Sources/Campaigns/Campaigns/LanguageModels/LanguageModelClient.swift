internal import DequeModule
internal import FoundationEssentials
package import HTTPTransfers
internal import HTTPTypes
package import Reactors

/// Calls a language model over HTTP, on one reactor.
///
/// A call is one request, plus a retry if the provider says when. The call keeps its turn during the wait, so that all
/// calls together respect the provider's rate limit. In addition libcurl replaces a kept connection that turns out to
/// be closed before the first byte of the response, as servers close idle ones. That is not an attempt, and the
/// deadline still applies.
package final class LanguageModelClient {
  /// The largest response. 64 KiB: a reply has 1 KiB, and 2 with its envelope. Some servers add the model's reasoning.
  static let answerBytesMax = 64 * 1024

  private let configuration: LanguageModelConfiguration
  private let transfers: HTTPTransferClient
  private let turns: CallTurns
  /// The signals that calls wait for, before their first request and before a retry.
  private var signals: [ObjectIdentifier: Signal] = [:]
  private var isClosed = false

  /// Makes a client without a connection. Use all other members on the same reactor.
  package init(_ configuration: LanguageModelConfiguration, on reactor: isolated Reactor) {
    self.configuration = configuration
    transfers = HTTPTransferClient(configuration.transfers, on: reactor)
    turns = CallTurns(activeMax: configuration.callsMax, waitingMax: configuration.waitingMax)
  }

  /// Calls that have their turn or wait for it.
  var pendingCount: Int { turns.count }

  /// Asks the model and waits for the whole reply. Ends early when the calling task is cancelled.
  ///
  /// Takes the wait for its turn, at most twice the deadline, and at most the wait before the retry. With a limit it takes no
  /// longer than that, and there is no retry.
  /// - Throws: ``LanguageModelError``. The client stays usable, except after `closed`.
  func reply(
    to prompt: ModelPrompt, within limit: Duration? = nil, on reactor: isolated Reactor
  ) async throws(LanguageModelError) -> LanguageModelReply {
    let begunAt = Reactor.now
    guard !isClosed else { throw LanguageModelError(.closed) }
    let signal = Signal()
    let admission = turns.enter(signal)
    if admission == .refused { throw LanguageModelError(.busy) }
    signals[ObjectIdentifier(signal)] = signal
    defer {
      signals[ObjectIdentifier(signal)] = nil
      turns.leave(signal, on: reactor)
    }
    if admission == .queued { try await wait(for: signal, atMost: limit, on: reactor) }
    guard let limit else {
      return try await converse(
        request(prompt, deadline: configuration.deadline), retries: true, waitingOn: signal, on: reactor)
    }
    let rest = limit - .nanoseconds(Int64(clamping: Reactor.now - begunAt))
    guard rest > .zero else { throw LanguageModelError(.busy) }
    return try await converse(
      request(prompt, deadline: min(rest, configuration.deadline)), retries: false, waitingOn: signal, on: reactor)
  }

  /// Cancels all calls and closes all connections. Idempotent.
  package func close(on reactor: isolated Reactor) {
    isClosed = true
    for signal in signals.values { signal.signal(on: reactor) }
    transfers.close(on: reactor)
  }

  /// A call that has its turn.
  private func converse(
    _ request: HTTPTransferRequest, retries: Bool, waitingOn signal: Signal, on reactor: isolated Reactor
  ) async throws(LanguageModelError) -> LanguageModelReply {
    var attempts = 1
    var disposition = await answer(to: request, on: reactor)
    if retries, case .retry(let wait, _) = disposition, wait <= configuration.retryWaitMax {
      try await self.wait(for: signal, atMost: wait, attempts: attempts, on: reactor)
      attempts += 1
      disposition = await answer(to: request, on: reactor)
    }
    switch disposition {
    case .reply(let text, let usage): return LanguageModelReply(text: text, usage: usage, attempts: attempts)
    case .failure(var error), .retry(_, var error):
      error.attempts = attempts
      throw error
    }
  }

  private func answer(to request: HTTPTransferRequest, on reactor: isolated Reactor) async -> AnswerDisposition {
    do throws(HTTPTransferError) {
      let response = try await transfers.send(request, on: reactor)
      return AnswerDisposition(response, configuration.provider.dialect, now: Date().timeIntervalSince1970)
    } catch {
      return .failure(LanguageModelError(error))
    }
  }

  private func request(_ prompt: ModelPrompt, deadline: Duration) -> HTTPTransferRequest {
    let dialect = configuration.provider.dialect
    var fields = dialect.fields(key: configuration.key)
    fields[.contentType] = "application/json"
    guard
      let content = try? dialect.content(
        prompt, model: configuration.model, replyTokensMax: configuration.replyTokensMax)
    else { preconditionFailure("texts and numbers cannot be written as JSON") }
    return HTTPTransferRequest(
      .post, url: configuration.url, fields: fields, body: Array(content), deadline: deadline,
      bodyBytesMax: Self.answerBytesMax)
  }

  /// Waits for the signal or the limit. Cancellation and close end the wait too.
  private func wait(
    for signal: Signal, atMost limit: Duration? = nil, attempts: Int = 0, on reactor: isolated Reactor
  ) async throws(LanguageModelError) {
    let bound = ReactorBound(signal, on: reactor)
    await withTaskCancellationHandler {
      _ = await signal.wait(for: limit, on: reactor)
    } onCancel: {
      bound.submit { $0.signal(on: $1) }
    }
    if isClosed { throw LanguageModelError(.closed, attempts: attempts) }
    if Task.isCancelled { throw LanguageModelError(.cancelled, attempts: attempts) }
  }
}

/// Limits the number of active calls. The others wait in order.
final class CallTurns {
  private let activeMax: Int
  private let waitingMax: Int
  private var activeCount = 0
  private var waiting = Deque<Signal>()

  init(activeMax: Int, waitingMax: Int) {
    precondition(activeMax > 0, "no call would ever have its turn")
    self.activeMax = activeMax
    self.waitingMax = waitingMax
  }

  var count: Int { activeCount + waiting.count }

  enum Admission {
    case turn
    /// The call becomes active when its signal is given.
    case queued
    /// Too many calls wait.
    case refused
  }

  func enter(_ signal: Signal) -> Admission {
    if activeCount < activeMax {
      activeCount += 1
      return .turn
    }
    guard waiting.count < waitingMax else { return .refused }
    waiting.append(signal)
    return .queued
  }

  /// Ends a call. Its turn, if it had one, goes to the call that has waited longest.
  func leave(_ signal: Signal, on reactor: isolated Reactor) {
    if let place = waiting.firstIndex(where: { $0 === signal }) {
      waiting.remove(at: place)
    } else if let next = waiting.popFirst() {
      next.signal(on: reactor)
    } else {
      activeCount -= 1
    }
  }
}

/// The model that a client calls, and the limits of its calls.
package struct LanguageModelConfiguration: Sendable {
  /// The default model: small and fast, which suffices for two sentences.
  package static let modelDefault = "claude-haiku-4-5-20251001"

  package var provider: LanguageModelProvider

  /// The address: scheme, host, port and perhaps a path, such as `https://models.example.com/proxy`. Trailing slashes
  /// are ignored. The provider's path is appended: `/v1/messages` for ``LanguageModelProvider/anthropicMessages``, and
  /// `/chat/completions` for ``LanguageModelProvider/openAICompatible``, whose base therefore usually ends in `/v1`.
  package var baseURL: String

  /// The caller's secret; nil for a server without authentication.
  package var key: Credential?

  package var model = modelDefault

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
    self.baseURL = baseURL ?? provider.standardBaseURL
    self.key = key
  }

  var url: String { base + provider.path }

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

  /// Larger than one page of any provider's list.
  private static let listBytesMax = 1024 * 1024

  /// Requests the provider's list of models, which is free and needs the key.
  /// - Returns: the status of the response.
  /// - Throws: when there is no response.
  package func statusOfModels(on reactor: isolated Reactor) async throws(LanguageModelError) -> Int {
    let client = HTTPTransferClient(transfers, on: reactor)
    defer { client.close(on: reactor) }
    do throws(HTTPTransferError) {
      let request = HTTPTransferRequest(
        url: base + provider.modelsPath, fields: provider.dialect.fields(key: key), deadline: deadline,
        bodyBytesMax: Self.listBytesMax)
      return try await client.send(request, on: reactor).status.code
    } catch {
      throw LanguageModelError(error)
    }
  }
}

/// A provider's HTTP interface.
package enum LanguageModelProvider: String, Sendable, CaseIterable {
  /// Anthropic's Messages. Source: docs.claude.com, "Messages".
  case anthropicMessages = "anthropic"
  /// OpenAI's chat completions, which many servers offer too. Source: platform.openai.com, "Chat Completions".
  case openAICompatible = "openai"

  package var standardBaseURL: String {
    switch self {
    case .anthropicMessages: "https://api.anthropic.com"
    case .openAICompatible: "https://api.openai.com/v1"
    }
  }

  /// The path after the base URL. OpenAI's libraries make the version part of the base; Anthropic's do not.
  var path: String {
    switch self {
    case .anthropicMessages: "/v1/messages"
    case .openAICompatible: "/chat/completions"
    }
  }

  var modelsPath: String {
    switch self {
    case .anthropicMessages: "/v1/models"
    case .openAICompatible: "/models"
    }
  }

  var dialect: any ModelDialect.Type {
    switch self {
    case .anthropicMessages: MessagesDialect.self
    case .openAICompatible: ChatCompletionsDialect.self
    }
  }
}

/// What proves the service to a host. No description of it, or of a value that contains it, reveals it.
package struct Credential: Sendable, Equatable, Undisclosed {
  let text: String

  /// - Parameter text: as the host's owner issued it, trimmed: a key, or the value of an Authorization field, such as `Bearer …`.
  package init(_ text: String) { self.text = text }
}
