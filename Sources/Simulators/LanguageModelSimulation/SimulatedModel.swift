internal import DequeModule
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

/// Everything a simulated model remembers; one lock guards it all.
struct ModelBooks {
  var player: ScriptPlayer
  private(set) var statistics = RequestStatistics()
  private(set) var records: Deque<RequestRecord> = []
  private let recordsMax: Int
  private var lastNumber = 0
  private var waiters: [(total: Int, signal: ReactorBound<Signal>)] = []

  init(_ script: ModelScript, recordsMax: Int) {
    player = ScriptPlayer(script)
    self.recordsMax = max(1, recordsMax)
  }

  /// - Returns: the number of the request.
  mutating func begin(_ inquiry: ModelInquiry, at milliseconds: Int) -> Int {
    lastNumber += 1
    statistics.begin(inquiry.provider)
    if records.count == recordsMax { records.removeFirst() }
    records.append(
      RequestRecord(
        number: lastNumber, arrivedMilliseconds: milliseconds, provider: inquiry.provider, model: inquiry.model,
        instructions: inquiry.instructions, material: inquiry.material, tokensMax: inquiry.tokensMax,
        inFlight: statistics.inFlight))
    tellWaiters()
    return lastNumber
  }

  /// A record that is no longer there stays forgotten.
  mutating func end(_ number: Int, _ outcome: RequestOutcome) {
    statistics.end(outcome)
    guard let place = records.lastIndex(where: { $0.number == number }) else { return }
    records[place].answered = outcome
  }

  /// - Returns: the number of the request, which has no record.
  mutating func refuse(_ provider: SimulatedProvider, _ status: Int) -> Int {
    lastNumber += 1
    statistics.refuse(provider, status)
    return lastNumber
  }

  mutating func forget() {
    records = []
    statistics.forget()
  }

  /// Gives the signal once so many have come.
  mutating func add(_ signal: ReactorBound<Signal>, at total: Int) {
    waiters.append((total, signal))
    tellWaiters()
  }

  private mutating func tellWaiters() {
    for waiter in waiters where waiter.total <= statistics.total { waiter.signal.submit { $0.signal(on: $1) } }
    waiters.removeAll { $0.total <= statistics.total }
  }
}
