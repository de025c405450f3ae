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
