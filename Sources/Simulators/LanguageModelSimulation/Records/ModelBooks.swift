internal import DequeModule
internal import Reactors

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
