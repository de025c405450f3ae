internal import APNS
internal import APNSCore
internal import Logging
internal import PushStore
internal import Reactors

/// The routes that pushes take, one for each app and APNs environment, each with its breaker.
struct Lanes {
  private let configuration: CircuitBreaker.Configuration
  private var breakers: [PushRoute: CircuitBreaker] = [:]
  private let logger: Logger

  init(_ configuration: CircuitBreaker.Configuration, apps: Set<BundleIdentifier>, logger: Logger) {
    self.configuration = configuration
    self.logger = logger
    update(apps: apps)
  }

  /// Takes the apps that are configured from now on; what is known of those that stay is kept.
  mutating func update(apps: Set<BundleIdentifier>) {
    let routes = apps.flatMap { app in APNSEnvironment.allCases.map { PushRoute(app: app, environment: $0) } }
    breakers = Dictionary(uniqueKeysWithValues: routes.map { ($0, breakers[$0] ?? CircuitBreaker(configuration)) })
  }

  /// Why nothing takes a route; nil when pushes do.
  func fault(of route: PushRoute) -> String? {
    guard let breaker = breakers[route] else { return Self.isNotConfigured }
    return breaker.isClosed ? nil : breaker.lastFault ?? "unknown"
  }

  /// Whether a push may go now; if so, ``note(_:from:)`` must follow.
  mutating func admit(_ route: PushRoute) -> Bool {
    breakers[route]?.admit(now: Reactor.now) ?? false
  }

  /// Takes the end of an admitted push.
  /// - Returns: whether the lane has just come back.
  mutating func note(_ attempt: PushAttempt, from route: PushRoute) -> Bool {
    guard var breaker = breakers[route] else { return false }
    defer { breakers[route] = breaker }
    let wasClosed = breaker.isClosed
    if attempt.isLaneFault {
      breaker.failed(attempt.reason, now: Reactor.now, draw: .random(in: 0..<1))
    } else {
      breaker.succeeded()
    }
    guard breaker.isClosed != wasClosed else { return false }
    report(breaker, of: route)
    return breaker.isClosed
  }

  /// What a claim may take of the deliveries that wait: as many as it likes of a lane that works, one to probe another.
  func claimable(deliveriesMax: Int) -> [ClaimLimits.Lane] {
    let now = Reactor.now
    return breakers.compactMap { route, breaker in
      guard breaker.mayAdmit(now: now) else { return nil }
      return ClaimLimits.Lane(route.name, deliveriesMax: breaker.isClosed ? deliveriesMax : 1)
    }
  }

  /// The fault of a device token whose app nobody configured: a push waits until somebody does.
  private static let isNotConfigured = "app_not_configured"

  private func report(_ breaker: CircuitBreaker, of route: PushRoute) {
    if breaker.isClosed {
      logger.notice("APNs takes pushes again", metadata: ["route": "\(route.name)"])
    } else {
      logger.error(
        "APNs takes no pushes; they wait in the database",
        metadata: ["route": "\(route.name)", "reason": "\(breaker.lastFault ?? "")"])
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
