internal import FoundationEssentials
internal import Reactors
internal import Synchronization

/// What a simulated model is told and what it remembers. May be used from any thread; each call is one short critical
/// section.
public final class SimulatedModel: Sendable {
  let pauses = Pauses()
  private let delay: Duration
  private let books: Mutex<ModelBooks>

  init(_ configuration: LanguageModelSimulatorConfiguration) {
    delay = .milliseconds(configuration.delayMilliseconds)
    books = Mutex(ModelBooks(configuration.script, recordsMax: configuration.recordsMax))
  }

  /// Takes another script, which begins at its beginning. Requests under way are answered as the former one said.
  public func play(_ script: ModelScript) {
    books.withLock { $0.player = ScriptPlayer(script) }
  }

  /// The newest requests that were let in, oldest first.
  public var requests: [RequestRecord] { books.withLock { Array($0.records) } }

  /// All requests in numbers.
  public var statistics: RequestStatistics { books.withLock { $0.statistics } }

  /// Forgets records and counters; the numbers of requests go on.
  public func forgetRequests() {
    books.withLock { $0.forget() }
  }

  /// Answers all requests that hang.
  /// - Returns: how many.
  @discardableResult
  public func release() -> Int { pauses.release() }

  /// Whether a model exists.
  func knows(_ name: String) -> Bool {
    books.withLock { $0.player.script.models?.contains(name) ?? true }
  }

  /// A request that was let in.
  func begin(_ inquiry: ModelInquiry) -> ModelTurn {
    let now = Int(Date().timeIntervalSince1970 * 1000)
    return books.withLock { books in
      let step = books.player.next(for: inquiry)
      return ModelTurn(
        number: books.begin(inquiry, at: now), step: step, delay: delay + .milliseconds(step.delayMilliseconds))
    }
  }

  /// It is answered, or will never be.
  func end(_ number: Int, _ outcome: RequestOutcome) {
    books.withLock { $0.end(number, outcome) }
  }

  /// A request that is not let in.
  /// - Returns: its number.
  func refuse(_ provider: SimulatedProvider, _ status: Int) -> Int {
    books.withLock { $0.refuse(provider, status) }
  }

  func waitForRequests(_ count: Int, within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let signal = Signal()
    let bound = ReactorBound(signal, on: reactor)
    books.withLock { $0.add(bound, at: count) }
    return await signal.wait(for: limit, on: reactor)
  }
}

/// A request on its way to its answer.
struct ModelTurn {
  let number: Int
  let step: ModelScript.Step
  /// Before it is answered.
  let delay: Duration
}
