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
