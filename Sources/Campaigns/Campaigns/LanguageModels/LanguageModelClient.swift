internal import DequeModule
internal import FoundationEssentials
internal import HTTPTransfers
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
  package var pendingCount: Int { turns.count }

  /// Asks the model and waits for the whole reply. Ends early when the calling task is cancelled.
  ///
  /// Takes the wait for its turn, at most twice the deadline, and at most the wait before the retry. With a limit it takes no
  /// longer than that, and there is no retry.
  /// - Throws: ``LanguageModelError``. The client stays usable, except after `closed`.
  package func reply(
    to prompt: LanguageModelPrompt, within limit: Duration? = nil, on reactor: isolated Reactor
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
}

// A call that has its turn.
extension LanguageModelClient {
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

  private func request(_ prompt: LanguageModelPrompt, deadline: Duration) -> HTTPTransferRequest {
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
