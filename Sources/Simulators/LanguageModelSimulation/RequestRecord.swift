/// An accepted request and its outcome.
public struct RequestRecord: Codable, Equatable, Sendable {
  /// From 1, without gaps; continues after records were forgotten.
  public let number: Int
  /// The time of arrival, in milliseconds since 1970.
  public let arrivedMilliseconds: Int
  /// The interface.
  public let provider: SimulatedProvider
  /// The requested model.
  public let model: String
  /// The system prompt; may be empty.
  public let instructions: String
  /// The messages of the user, one on each line.
  public let material: String
  /// The most tokens of the reply; nil for no limit.
  public let tokensMax: Int?
  /// Concurrent requests at its arrival, including itself.
  public let inFlight: Int
  /// The outcome; nil until there is one.
  public internal(set) var answered: RequestOutcome?

  enum CodingKeys: String, CodingKey {
    case number, provider, model, instructions, material, answered
    case arrivedMilliseconds = "arrived_ms"
    case tokensMax = "max_tokens"
    case inFlight = "in_flight"
  }
}

/// The outcome of a request.
public struct RequestOutcome: Codable, Equatable, Sendable {
  /// `reply`, `cut`, `refusal`, `failure`, `raw` or `close`.
  public let kind: String
  /// The HTTP status; nil when the connection was closed instead.
  public let status: Int?
  /// The reply or the raw content; nil without one.
  public let text: String?
  /// The reported tokens of the prompt; 0 without a report.
  public let inputTokens: Int
  /// The reported tokens of the reply; 0 without a report.
  public let outputTokens: Int

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
public struct RequestStatistics: Codable, Equatable, Sendable {
  /// Accepted requests.
  public internal(set) var total = 0
  /// Refused requests by provider and status: `anthropic 401`.
  public internal(set) var refused: [String: Int] = [:]
  /// Accepted requests by provider.
  public internal(set) var providers: [String: Int] = [:]
  /// Outcomes: `reply`, `failure 429`.
  public internal(set) var answers: [String: Int] = [:]
  /// Requests in flight. A hanging one counts until its release, even if its client has disconnected.
  public internal(set) var inFlight = 0
  /// The most requests in flight at the same time.
  public internal(set) var inFlightMax = 0
  /// The reported tokens of all prompts.
  public internal(set) var inputTokens = 0
  /// The reported tokens of all replies.
  public internal(set) var outputTokens = 0

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
