/// One app on one device, as the service knows it by its device token.
public struct RegisteredDevice: Equatable, Sendable {
  /// Why a token no longer works; both answer 410.
  public enum End: Equatable, Sendable {
    /// The app was removed: `Unregistered`, with the moment in milliseconds since 1970.
    case unregistered(atMilliseconds: Int64)
    /// The token ran out: `ExpiredToken`, with the moment in milliseconds since 1970.
    case expired(atMilliseconds: Int64)
  }

  /// The service that issued the token.
  public var environment: SimulatedEnvironment
  /// The app, without the suffix of any push type.
  public var bundle: String
  /// Why it no longer works; nil while it does.
  public var end: End?
  /// What the next good pushes are answered, in order; then the normal answers come again.
  public var answers: [ScriptedAnswer]
  /// How much longer than usual an answer takes, in milliseconds.
  public var delayMilliseconds: Int

  /// A device that takes pushes, unless told otherwise.
  public init(
    environment: SimulatedEnvironment,
    bundle: String,
    end: End? = nil,
    answers: [ScriptedAnswer] = [],
    delayMilliseconds: Int = 0
  ) {
    self.environment = environment
    self.bundle = bundle
    self.end = end
    self.answers = answers
    self.delayMilliseconds = delayMilliseconds
  }

  /// Uses up one scripted answer.
  mutating func takeAnswer() -> ScriptedAnswer? {
    while let answer = answers.first, answer.times <= 0 { answers.removeFirst() }
    guard let answer = answers.first else { return nil }
    if answer.times != ScriptedAnswer.always { answers[0].times -= 1 }
    return answer
  }
}

/// An answer that takes the place of the one a good push would get, for some pushes in a row.
public struct ScriptedAnswer: Codable, Equatable, Sendable {
  /// The HTTP status; 200 is allowed and means a normal success.
  public var status: Int
  /// The `reason` of the JSON body; nil sends no body unless ``rawBody`` does.
  public var reason: String?
  /// A body sent as it is instead of JSON, as a proxy's error page would be.
  public var rawBody: String?
  /// How many pushes get it, from 1; ``always`` never wears out.
  public var times: Int

  /// As good as for ever.
  public static let always = Int.max

  /// An answer for `times` pushes in a row.
  public init(status: Int, reason: String? = nil, rawBody: String? = nil, times: Int = 1) {
    self.status = status
    self.reason = reason
    self.rawBody = rawBody
    self.times = times
  }

  private enum CodingKeys: String, CodingKey {
    case status, reason, times
    case rawBody = "raw_body"
  }

  /// Reads `{status, reason?, raw_body?, times?}`; `times` is 1 when absent.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    status = try container.decode(Int.self, forKey: .status)
    reason = try container.decodeIfPresent(String.self, forKey: .reason)
    rawBody = try container.decodeIfPresent(String.self, forKey: .rawBody)
    times = try container.decodeIfPresent(Int.self, forKey: .times) ?? 1
  }
}
