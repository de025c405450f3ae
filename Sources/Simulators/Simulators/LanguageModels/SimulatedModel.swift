internal import DequeModule
internal import FoundationEssentials
internal import Reactors
internal import Synchronization

/// The script and the records of a simulated model. Usable from any thread; each call is one short critical section.
package final class SimulatedModel: Sendable {
  let held = HeldRequests()
  private let delay: Duration
  private let books: Mutex<ModelBooks>

  init(_ configuration: LanguageModelSimulatorConfiguration) {
    delay = .milliseconds(configuration.delayMilliseconds)
    books = Mutex(ModelBooks(configuration.script, recordsMax: configuration.recordsMax))
  }

  /// Starts another script. Requests in flight are answered by the former one.
  package func play(_ script: ModelScript) {
    books.withLock { $0.player = ScriptPlayer(script) }
  }

  /// The newest accepted requests, oldest first.
  package var requests: [RequestRecord] { books.withLock { Array($0.records) } }

  package var statistics: RequestStatistics { books.withLock { $0.statistics } }

  /// Forgets records and counters. The numbers of requests continue.
  package func forgetRequests() {
    books.withLock { $0.forget() }
  }

  /// Answers all hanging requests.
  /// - Returns: their number.
  @discardableResult
  package func release() -> Int { held.release() }

  func knows(_ name: String) -> Bool {
    books.withLock { $0.player.script.models?.contains(name) ?? true }
  }

  /// Records an accepted request.
  func begin(_ inquiry: ModelInquiry) -> ModelTurn {
    let now = Int(Date().timeIntervalSince1970 * 1000)
    return books.withLock { books in
      let step = books.player.next(for: inquiry)
      return ModelTurn(
        number: books.begin(inquiry, at: now), step: step, delay: delay + .milliseconds(step.delayMilliseconds))
    }
  }

  func end(_ number: Int, _ outcome: RequestOutcome) {
    books.withLock { $0.end(number, outcome) }
  }

  /// Records a refused request.
  /// - Returns: its number.
  func refuse(_ provider: SimulatedProvider, _ status: Int) -> Int {
    books.withLock { $0.refuse(provider, status) }
  }

  func waitForRequests(_ count: Int, within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let signal = Signal()
    let bound = ReactorBound(signal, on: reactor)
    books.withLock { $0.waiters.add(bound, until: count, total: $0.statistics.total) }
    return await signal.wait(for: limit, on: reactor)
  }
}

/// An accepted request and the step that answers it.
struct ModelTurn {
  let number: Int
  let step: ModelScript.Step
  let delay: Duration
}

/// The state of a simulated model, guarded by one lock.
struct ModelBooks {
  var player: ScriptPlayer
  private(set) var statistics = RequestStatistics()
  private(set) var records: Deque<RequestRecord> = []
  private let recordsMax: Int
  private var lastNumber = 0
  var waiters = ArrivalWaiters()

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
    waiters.tell(statistics.total)
    return lastNumber
  }

  /// Does nothing to a forgotten record.
  mutating func end(_ number: Int, _ outcome: RequestOutcome) {
    statistics.end(outcome)
    guard let place = records.lastIndex(where: { $0.number == number }) else { return }
    records[place].answered = outcome
  }

  /// - Returns: the number of the request. It gets no record.
  mutating func refuse(_ provider: SimulatedProvider, _ status: Int) -> Int {
    lastNumber += 1
    statistics.refuse(provider, status)
    return lastNumber
  }

  mutating func forget() {
    records = []
    statistics.forget()
  }
}

/// An accepted request and its outcome.
package struct RequestRecord: Codable, Equatable, Sendable {
  /// From 1, without gaps; continues after records were forgotten.
  package let number: Int
  /// The time of arrival, in milliseconds since 1970.
  package let arrivedMilliseconds: Int
  package let provider: SimulatedProvider
  package let model: String
  /// The system prompt; may be empty.
  package let instructions: String
  /// The messages of the user, one on each line.
  package let material: String
  package let tokensMax: Int?
  /// Concurrent requests at its arrival, including itself.
  package let inFlight: Int
  package internal(set) var answered: RequestOutcome?

  enum CodingKeys: String, CodingKey {
    case number, provider, model, instructions, material, answered
    case arrivedMilliseconds = "arrived_ms"
    case tokensMax = "max_tokens"
    case inFlight = "in_flight"
  }
}

package struct RequestOutcome: Codable, Equatable, Sendable {
  /// `reply`, `cut`, `refusal`, `failure`, `raw` or `close`.
  package let kind: String
  /// The HTTP status; nil when the connection was closed instead.
  package let status: Int?
  /// The reply or the raw content; nil without one.
  package let text: String?
  /// The reported tokens of the prompt; 0 without a report.
  package let inputTokens: Int
  /// The reported tokens of the reply; 0 without a report.
  package let outputTokens: Int

  enum CodingKeys: String, CodingKey {
    case kind, status, text
    case inputTokens = "input_tokens"
    case outputTokens = "output_tokens"
  }

  init(_ kind: String, status: Int? = nil, text: String? = nil) {
    self.kind = kind
    self.status = status
    self.text = text
    (inputTokens, outputTokens) = (0, 0)
  }

  init(_ output: ModelOutput) {
    kind =
      switch output.ending {
      case .complete: "reply"
      case .cutOff: "cut"
      case .refused: "refusal"
      }
    status = 200
    text = output.text
    (inputTokens, outputTokens) = (output.inputTokens, output.outputTokens)
  }
}

/// Counters of all requests since the start or the last reset.
package struct RequestStatistics: Codable, Equatable, Sendable {
  /// Accepted requests.
  package internal(set) var total = 0
  /// Refused requests by provider and status: `anthropic 401`.
  package internal(set) var refused: [String: Int] = [:]
  /// Accepted requests by provider.
  package internal(set) var providers: [String: Int] = [:]
  /// Outcomes: `reply`, `failure 429`.
  package internal(set) var answers: [String: Int] = [:]
  /// Requests in flight. A hanging one counts until its release, even if its client has disconnected.
  package internal(set) var inFlight = 0
  package internal(set) var inFlightMax = 0
  package internal(set) var inputTokens = 0
  package internal(set) var outputTokens = 0

  enum CodingKeys: String, CodingKey {
    case total, refused, providers, answers
    case inFlight = "in_flight"
    case inFlightMax = "in_flight_max"
    case inputTokens = "input_tokens"
    case outputTokens = "output_tokens"
  }

  mutating func begin(_ provider: SimulatedProvider) {
    total += 1
    providers[provider.rawValue, default: 0] += 1
    inFlight += 1
    inFlightMax = max(inFlightMax, inFlight)
  }

  mutating func end(_ outcome: RequestOutcome) {
    inFlight -= 1
    let name = outcome.kind == "failure" ? "failure \(outcome.status ?? 0)" : outcome.kind
    answers[name, default: 0] += 1
    inputTokens += outcome.inputTokens
    outputTokens += outcome.outputTokens
  }

  mutating func refuse(_ provider: SimulatedProvider, _ status: Int) {
    refused["\(provider.rawValue) \(status)", default: 0] += 1
  }

  /// Resets the counters except those of requests in flight.
  mutating func forget() {
    var empty = RequestStatistics()
    (empty.inFlight, empty.inFlightMax) = (inFlight, inFlight)
    self = empty
  }
}
