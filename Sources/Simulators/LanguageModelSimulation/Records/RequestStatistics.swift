/// All requests in numbers, since the start or the last forgetting.
public struct RequestStatistics: Codable, Equatable, Sendable {
  /// Requests that were let in.
  public internal(set) var total = 0
  /// Requests that were not let in, by provider and status: `anthropic 401`.
  public internal(set) var refused: [String: Int] = [:]
  /// Requests that were let in, by provider.
  public internal(set) var providers: [String: Int] = [:]
  /// What was answered: `reply`, `failure 429`.
  public internal(set) var answers: [String: Int] = [:]
  /// Requests under way now. One that hangs stays under way until it is let go, also when its client has gone.
  public internal(set) var inFlight = 0
  /// The most that have been under way at the same time.
  public internal(set) var inFlightMax = 0
  /// The tokens of all prompts, as the answers said.
  public internal(set) var inputTokens = 0
  /// The tokens of all replies, as the answers said.
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

  /// What is under way stays so.
  mutating func forget() {
    var empty = RequestStatistics()
    (empty.inFlight, empty.inFlightMax) = (inFlight, inFlight)
    self = empty
  }
}
