internal import PushRules

/// The waits of one push: the policy, what has gone before, and a draw.
struct RetryPacing {
  /// After a fault of its lane a push steps back for some seconds, so that others probe too; the breaker does the rest.
  static let briefMax = Duration.seconds(5)

  /// A push that may be the wrong one to probe with comes back after five of a shut lane's longest waits, so that others
  /// have probed it by then.
  static let longMax = Duration.seconds(300)

  let policy: RetryPolicy
  /// Claims so far, the present one included.
  let attempts: Int
  /// How long a message is worth a push.
  let timeToLive: Duration
  /// From the claim to now, when the last answer has come: all waits begin here. Never too little.
  let elapsed: Duration
  /// A random number in `0 ..< 1`.
  let draw: Double

  /// The wait of a push that is tried again on its own.
  func wait(afterRetries retries: Int, minimum: Duration) -> Duration {
    policy.wait(afterRetries: retries, minimum: minimum, draw: draw)
  }

  /// The wait of a push before it may probe its lane again.
  func laneWait(_ stepBack: DeviceVerdict.StepBack) -> Duration {
    let wait = policy.wait(afterRetries: attempts - 1, minimum: .zero, draw: draw)
    return switch stepBack {
    case .none: .zero
    case .brief: min(wait, Self.briefMax)
    case .long: min(wait, Self.longMax)
    }
  }

  /// The wait of a push that no single lane wakes. It comes back by half of what is left of its life, because at the end
  /// of it the push would be found expired; but not within seconds, so that the halves do not become ever shorter.
  func lanesWait(within life: Duration) -> Duration {
    min(laneWait(.long), max(life / 2, laneWait(.brief)))
  }

  /// What is left of the message's life; a try at its very end is still worth making.
  func life(of situation: RecipientSituation) -> Duration {
    timeToLive - (situation.messageAge - situation.heldFor) - elapsed
  }
}
