/// One app on one device, the owner of a device token.
package struct RegisteredDevice: Equatable, Sendable {
  /// Why a token no longer works. Both reasons get 410.
  package enum End: Equatable, Sendable {
    /// The app was removed: `Unregistered`, with the time in milliseconds since 1970.
    case unregistered(atMilliseconds: Int64)
    /// The token expired: `ExpiredToken`, with the time in milliseconds since 1970.
    case expired(atMilliseconds: Int64)
  }

  package var environment: SimulatedEnvironment
  package var bundle: String
  /// The physical device; tokens with the same name belong to the same one. Nil when only this token does.
  package var name: String?
  package var kind: TokenKind
  package var end: End?
  /// The answers to the next good pushes, in order. The normal answers follow.
  package var answers: [ScriptedAnswer]
  /// An additional delay of the answers, in milliseconds.
  package var delayMilliseconds: Int

  package init(
    environment: SimulatedEnvironment,
    bundle: String,
    name: String? = nil,
    kind: TokenKind = .device,
    end: End? = nil,
    answers: [ScriptedAnswer] = [],
    delayMilliseconds: Int = 0
  ) {
    self.environment = environment
    self.bundle = bundle
    self.name = name
    self.kind = kind
    self.end = end
    self.answers = answers
    self.delayMilliseconds = delayMilliseconds
  }

  mutating func takeAnswer() -> ScriptedAnswer? {
    while let answer = answers.first, answer.times <= 0 { answers.removeFirst() }
    guard let answer = answers.first else { return nil }
    if answer.times != ScriptedAnswer.always { answers[0].times -= 1 }
    return answer
  }
}

/// An answer that replaces the success of some good pushes in a row.
package struct ScriptedAnswer: Codable, Equatable, Sendable {
  /// The HTTP status; 200 is a normal success.
  package var status: Int
  /// The `reason` of the JSON body; nil for no body, unless ``rawBody`` is set.
  package var reason: String?
  /// A body that replaces the JSON, such as a proxy's error page.
  package var rawBody: String?
  /// The number of pushes that get it, from 1, or ``always``.
  package var times: Int

  package static let always = Int.max

  package init(status: Int, reason: String? = nil, rawBody: String? = nil, times: Int = 1) {
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
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    status = try container.decode(Int.self, forKey: .status)
    reason = try container.decodeIfPresent(String.self, forKey: .reason)
    rawBody = try container.decodeIfPresent(String.self, forKey: .rawBody)
    times = try container.decodeIfPresent(Int.self, forKey: .times) ?? 1
  }
}
