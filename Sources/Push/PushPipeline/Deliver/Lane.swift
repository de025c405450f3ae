internal import APNS
internal import APNSCore
internal import Logging
internal import Reactors

/// One route as this reactor knows it: whether pushes go, and what their answers mean.
///
/// Everything known of a route is forgotten with its lane, so a new lane stands for new settings. What was sent over the
/// old one is still told to the old one.
final class Lane {
  /// Whether the other environment may be asked about a token.
  enum TrialAdmission {
    /// Yes; what became of it must be told.
    case admitted
    /// Not at the moment.
    case notNow(reason: String?)
    /// The app has no credential there.
    case impossible
  }

  let route: PushRoute
  let logger: Logger
  var breaker: CircuitBreaker
  var suspicion: TokenSuspicion
  var quarantine = TokenQuarantine()
  var slowStart = LaneSlowStart()
  var inFlight = 0
  var refusesTrials = false
  /// Refused tokens that the other environment is being asked about.
  var doubts = 0
  /// Tokens refused like this since a push was accepted.
  var doubtsInRow = 0
  var doubtReason: String?
  var hasTurnedAwayPaused = false

  /// Whether pushes of its own tokens wait for it, as far as it has heard since it shut.
  var isWaitedFor = false

  /// Starts closed and unproven.
  init(_ route: PushRoute, _ configuration: LaneConfiguration, logger: Logger) {
    self.route = route
    self.logger = logger
    breaker = CircuitBreaker(configuration.breaker)
    suspicion = TokenSuspicion(configuration.suspicion)
  }

  /// Why nothing takes this route; nil when pushes go.
  var fault: String? { breaker.openFault.map { $0.reason ?? "unknown" } }

  /// Whether pushes go.
  var breakerState: BreakerState { breaker.kind }

  /// How many of the deliveries that wait for it may be claimed now; one to probe it while it is shut.
  func room(now: UInt64) -> Int {
    guard !isPaused else { return 0 }
    guard breaker.isClosed else { return breaker.mayAdmit(now: now) ? 1 : 0 }
    return slowStart.allowance.map { max(0, $0 - inFlight) } ?? .max
  }

  /// Why a push to a device may not go now; nil when it may, and then what becomes of it must be told.
  func objection(to device: String, now: UInt64) -> DeviceVerdict? {
    if breaker.isClosed, quarantine.holds(device, now: now) {
      suspicion.turnedAway()
      return .refused(reason: quarantine.reason(for: device))
    }
    guard !isPaused, breaker.admit(now: now) else { return turnAway() }
    inFlight += 1
    return nil
  }

  /// What a push that is let go now shows when it has a stream.
  var permit: PushPermit { PushPermit(from: self, number: breaker.shutCount) }

  /// Takes back a push that was let go and not sent, because its permit had ended.
  func withdraw() -> DeviceVerdict {
    inFlight = max(0, inFlight - 1)
    return turnAway()
  }

  private func turnAway() -> DeviceVerdict {
    isWaitedFor = true
    if isPaused { hasTurnedAwayPaused = true }
    return .waiting(lane: route.name, reason: fault ?? doubtReason, .none)
  }

  /// Whether a push whose device is unknown in the other environment may try this one. A lane that is shut for its
  /// settings is probed by pushes of its own, where there are any.
  func admitTrial(now: UInt64) -> TrialAdmission {
    guard !refusesTrials else { return .impossible }
    let isForOwn = isWaitedFor && breaker.openFault?.cause == .configuration
    guard !isForOwn, breaker.admit(now: now) else { return .notNow(reason: fault) }
    inFlight += 1
    return .admitted
  }
}

extension Lane: PushGate {
  /// Whether a push may go that was let go when the lane had been shut so many times: while it is open, or to probe it.
  func admits(_ shutCount: Int) -> Bool {
    breaker.isClosed ? !isPaused : breaker.kind == .probing && shutCount == breaker.shutCount
  }
}

// What the other reactors' lanes of the same route find out, and what refused tokens wait for.
extension Lane {
  /// Whether it is shut for a credential or a setting.
  var isMisconfigured: Bool { breaker.openFault?.cause == .configuration }

  /// Another reactor's pushes were refused for a setting: these would be as well.
  func stop(because reason: String?, now: UInt64, draw: Double) {
    guard breaker.isClosed else { return }
    suspicion.stopped()
    breaker.stop(LaneFault(cause: .configuration, reason: reason), now: now, draw: draw)
    report(since: nil)
  }

  /// How often it was shut: what is learnt about a token holds only while that has not changed.
  var shutCount: Int { breaker.shutCount }

  /// How long a token that is believed to be bad is kept.
  var confirmation: Duration { suspicion.configuration.confirmation }

  /// Judges a token again that was believed to be bad a moment ago.
  func confirm(_ verdict: DeviceVerdict, sinceShut shutCount: Int) -> DeviceVerdict {
    guard case .dead(let reason, _) = verdict, shutCount != breaker.shutCount || !breaker.isClosed else {
      return verdict
    }
    return .waiting(lane: route.name, reason: reason, .long)
  }
}

/// When lanes shut.
struct LaneConfiguration: Sendable {
  var breaker = CircuitBreaker.Configuration()
  var suspicion = TokenSuspicion.Configuration()
}
