internal import APNSCore

/// Why APNs refuses every push of a lane, in words for an operator.
struct LaneRefusal: Equatable {
  /// APNs' own word, or the status.
  let reason: String

  /// One sentence.
  let words: String

  /// - Parameters:
  ///   - tokenAge: how long ago the provider token was signed, by the monotonic clock.
  ///   - clock: how far the clocks are apart, if the answer said it.
  init(_ answer: PushAnswer, tokenAge: Duration, clock: ClockDifference?) {
    reason = answer.reason?.rawValue ?? "http_\(answer.status)"
    words =
      switch reason {
      case "ExpiredProviderToken": Self.expired(tokenAge: tokenAge, clock: clock)
      case "InvalidProviderToken": Self.invalid(clock: clock)
      default: "APNs refuses the pushes: \(reason)"
      }
  }

  /// APNs takes a token for an hour. What it says of a younger one is about the clocks.
  private static func expired(tokenAge: Duration, clock: ClockDifference?) -> String {
    let fact = "APNs calls a provider token expired that was signed \(tokenAge.components.seconds) s ago"
    if let clock, clock.isNotable { return "\(fact): \(clock.words)" }
    let least = ProviderTokenSchedule.lifetime - tokenAge
    guard least > .zero else { return fact }
    return "\(fact): this machine's clock seems to be at least \(least.components.seconds) s behind that of APNs"
  }

  /// The same word is said of a token from the future, of an unknown key and of a wrong team.
  private static func invalid(clock: ClockDifference?) -> String {
    let fact = "APNs refuses the provider token (InvalidProviderToken)"
    if let clock, clock.isNotable { return "\(fact): \(clock.words)" }
    return "\(fact): the key, its identifier, the team's identifier or this machine's clock is wrong"
  }
}
