internal import DequeModule
internal import FoundationEssentials
internal import HTTPTransfers
internal import HTTPTypes
public import Reactors

/// Asks a language model, over HTTP, on one reactor.
///
/// A call is one request, and a second one only where the provider has said when to come again. Between the two the
/// call keeps its turn, so that a provider that limits the rate is asked less often by all of them. Below that, libcurl
/// replaces a kept connection that turns out to be closed before a byte of the answer, as servers close idle ones, and
/// sends the request on the new one: that is no attempt, and within the same deadline.
public final class LanguageModelClient {
  /// The largest answer. 64 KiB: the replies asked for are 1 KiB, with everything around them 2; what a model thinks
  /// aloud, where a server passes it on, some more.
  static let answerBytesMax = 64 * 1024

  private let configuration: LanguageModelConfiguration
  private let transfers: HTTPTransferClient
  private let turns: CallTurns
  /// What the calls wait on, between their requests and before the first.
  private var signals: [ObjectIdentifier: Signal] = [:]
  private var isClosed = false

  /// Connects nothing yet. Everything else is to be called on the same reactor.
  public init(_ configuration: LanguageModelConfiguration, on reactor: isolated Reactor) {
    self.configuration = configuration
    transfers = HTTPTransferClient(configuration.transfers, on: reactor)
    turns = CallTurns(activeMax: configuration.callsMax, waitingMax: configuration.waitingMax)
  }

  /// Calls that have their turn or wait for it.
  public var pendingCount: Int { turns.count }

  /// Asks the model, and waits for the whole reply. Ends early when the calling task is cancelled.
  ///
  /// Takes as long as the wait for its turn, at most twice the deadline, and at most the retry's wait between the two.
  /// - Throws: ``LanguageModelError``; the client stays usable but for `closed`.
  public func reply(
    to prompt: LanguageModelPrompt, on reactor: isolated Reactor
  ) async throws(LanguageModelError) -> LanguageModelReply {
    guard !isClosed else { throw LanguageModelError(.closed) }
    let signal = Signal()
    let admission = turns.enter(signal)
    if admission == .refused { throw LanguageModelError(.busy) }
    signals[ObjectIdentifier(signal)] = signal
    defer {
      signals[ObjectIdentifier(signal)] = nil
      turns.leave(signal, on: reactor)
    }
    if admission == .queued { try await wait(for: signal, on: reactor) }
    return try await converse(request(prompt), waitingOn: signal, on: reactor)
  }

  /// Breaks off all calls and closes all connections. Closing twice does nothing.
  public func close(on reactor: isolated Reactor) {
    isClosed = true
    for signal in signals.values { signal.signal(on: reactor) }
    transfers.close(on: reactor)
  }
}

// A call that has its turn.
extension LanguageModelClient {
  private func converse(
    _ request: HTTPTransferRequest, waitingOn signal: Signal, on reactor: isolated Reactor
  ) async throws(LanguageModelError) -> LanguageModelReply {
    var attempts = 1
    var disposition = await answer(to: request, on: reactor)
    if case .retry(let wait, _) = disposition, wait <= configuration.retryWaitMax {
      try await self.wait(for: signal, atMost: wait, attempts: attempts, on: reactor)
      attempts += 1
      disposition = await answer(to: request, on: reactor)
    }
    switch disposition {
    case .reply(let text, let usage): return LanguageModelReply(text: text, usage: usage, attempts: attempts)
    case .failure(let error), .retry(_, let error): throw error.afterAttempts(attempts)
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

  private func request(_ prompt: LanguageModelPrompt) -> HTTPTransferRequest {
    let dialect = configuration.provider.dialect
    var fields = dialect.fields(key: configuration.key)
    fields[.contentType] = "application/json"
    guard
      let content = try? dialect.content(
        prompt, model: configuration.model, replyTokensMax: configuration.replyTokensMax)
    else { preconditionFailure("texts and numbers cannot be written as JSON") }
    return HTTPTransferRequest(
      .post, url: configuration.url, fields: fields, body: Array(content), deadline: configuration.deadline,
      bodyBytesMax: Self.answerBytesMax)
  }

  /// Waits for the signal, or for so long; a cancellation and a close end it too.
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

/// Lets so many calls through at the same time, the others in the order in which they came.
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

  /// Calls that have their turn or wait for it.
  var count: Int { activeCount + waiting.count }

  /// What becomes of a call.
  enum Admission {
    /// It has its turn.
    case turn
    /// It has it once its signal is given.
    case queued
    /// Too many wait.
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

  /// The call is over; its turn goes to the one that has waited longest. One that was still waiting had none.
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
