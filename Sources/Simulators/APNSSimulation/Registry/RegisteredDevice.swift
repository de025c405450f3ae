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
