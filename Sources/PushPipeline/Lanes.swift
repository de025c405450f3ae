internal import APNS
internal import APNSCore
internal import Logging
internal import PushStore
internal import Reactors

/// The lanes that pushes take, one for each APNs environment of the team, each with its breaker.
struct Lanes {
  private var breakers: [APNSEnvironment: CircuitBreaker]
  private let logger: Logger

  init(_ configuration: CircuitBreaker.Configuration, logger: Logger) {
    breakers = Dictionary(
      uniqueKeysWithValues: APNSEnvironment.allCases.map { ($0, CircuitBreaker(configuration)) })
    self.logger = logger
  }

  /// Why nothing goes to an environment; nil when it does.
  func fault(of environment: APNSEnvironment) -> String? {
    guard let breaker = breakers[environment], !breaker.isClosed else { return nil }
    return breaker.lastFault ?? "unknown"
  }

  /// Whether a push may go now; if so, ``note(_:from:)`` must follow.
  mutating func admit(_ environment: APNSEnvironment) -> Bool {
    breakers[environment]?.admit(now: Reactor.now) ?? true
  }

  /// Takes the end of an admitted push.
  /// - Returns: whether the lane has just come back.
  mutating func note(_ attempt: PushAttempt, from environment: APNSEnvironment) -> Bool {
    guard var breaker = breakers[environment] else { return false }
    defer { breakers[environment] = breaker }
    let wasClosed = breaker.isClosed
    if attempt.isLaneFault {
      breaker.failed(attempt.reason, now: Reactor.now, draw: .random(in: 0..<1))
    } else {
      breaker.succeeded()
    }
    guard breaker.isClosed != wasClosed else { return false }
    report(breaker, of: environment)
    return breaker.isClosed
  }

  /// What a claim may take of the deliveries that wait: as many as it likes of a lane that works, one to probe another.
  func claimable(deliveriesMax: Int) -> [ClaimLimits.Lane] {
    let now = Reactor.now
    return breakers.compactMap { environment, breaker in
      guard breaker.mayAdmit(now: now) else { return nil }
      return ClaimLimits.Lane(environment.rawValue, deliveriesMax: breaker.isClosed ? deliveriesMax : 1)
    }
  }

  private func report(_ breaker: CircuitBreaker, of environment: APNSEnvironment) {
    if breaker.isClosed {
      logger.notice("APNs takes pushes again", metadata: ["environment": "\(environment.rawValue)"])
    } else {
      logger.error(
        "APNs takes no pushes; they wait in the database",
        metadata: ["environment": "\(environment.rawValue)", "reason": "\(breaker.lastFault ?? "")"])
    }
  }
}

extension PushAttempt {
  /// Whether the lane failed rather than this push: the next one to any device would most likely fail alike.
  ///
  /// APNs asks to wait a quarter of an hour after a 5xx. That is for senders without anything better: here one push at a
  /// time finds out whether the fault has passed, and a message that waited for a quarter of an hour is none.
  var isLaneFault: Bool {
    switch disposition {
    case .accepted, .dropToken, .never, .fixRequest: return false
    case .fixCredentials, .refreshProviderToken, .reconnect: return true
    case .retryLater:
      guard case .answered(let answer) = self else { return true }
      return answer.status >= 500
    }
  }
}
