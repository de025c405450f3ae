/// A request that was let in, and what came of it.
public struct RequestRecord: Codable, Equatable, Sendable {
  /// From 1, without gaps; goes on after records were forgotten.
  public let number: Int
  /// When it had come, in milliseconds since 1970.
  public let arrivedMilliseconds: Int
  /// Over whose interface.
  public let provider: SimulatedProvider
  /// The model it named.
  public let model: String
  /// The system prompt; empty for none.
  public let instructions: String
  /// The messages of the user, one on each line.
  public let material: String
  /// Tokens that the reply might have; nil for any.
  public let tokensMax: Int?
  /// Requests under way when it came, itself included.
  public let inFlight: Int
  /// What was answered; nil as long as nothing was.
  public internal(set) var answered: RequestOutcome?

  enum CodingKeys: String, CodingKey {
    case number, provider, model, instructions, material, answered
    case arrivedMilliseconds = "arrived_ms"
    case tokensMax = "max_tokens"
    case inFlight = "in_flight"
  }
}

/// What was answered to a request.
public struct RequestOutcome: Codable, Equatable, Sendable {
  /// `reply`, `cut`, `refusal`, `failure`, `raw` or `close`.
  public let kind: String
  /// The HTTP status; nil when the connection was closed instead.
  public let status: Int?
  /// What was written, or the raw content; nil for none.
  public let text: String?
  /// Tokens of the prompt, as the answer said; 0 when it said nothing of them.
  public let inputTokens: Int
  /// Tokens of the reply, as the answer said.
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
