internal import Logging
internal import PushRules
internal import Reactors

/// The health of one route, as this reactor knows it: whether pushes go, and what their answers mean.
///
/// New settings bring a new lane, which knows nothing of the old one. Pushes sent over the old one report to the old one.
final class Lane {
  /// Whether the other environment may be asked about a token.
  enum TrialAdmission {
    /// Yes; its end must be reported.
    case admitted
    case notNow(reason: String?)
    /// The app has no credential there.
    case impossible
  }

  let route: DeliveryRoute
  /// Pushes that may be in flight; nil without a bound of its own.
  let inFlightMax: Int?
  let logger: Logger
  var breaker: CircuitBreaker
  var suspicion: TokenSuspicion
  var quarantine = TokenQuarantine()
  var slowStart = LaneSlowStart()
  var inFlight = 0
  var refusesTrials = false
  /// Refused tokens with a trial under way in the other environment.
  var doubts = 0
  /// Tokens refused like this since a push was accepted.
  var doubtsInRow = 0
  var doubtReason: String?
  var hasTurnedAwayPaused = false
  /// Whether pushes were turned away because as many as may be were in flight.
  var hasTurnedAwayFull = false

  /// Whether pushes of tokens registered for it wait for it, as far as known since it shut.
  var isWaitedFor = false

  /// Starts closed and unproven.
  init(_ route: DeliveryRoute, inFlightMax: Int? = nil, _ configuration: LaneConfiguration, logger: Logger) {
    self.route = route
    self.inFlightMax = inFlightMax
    self.logger = logger
    breaker = CircuitBreaker(configuration.breaker)
    suspicion = TokenSuspicion(configuration.suspicion)
  }

  var fault: String? { breaker.openFault.map { $0.reason ?? "unknown" } }

  /// How many of the waiting deliveries may be claimed now; one to probe it while it is shut.
  func room(now: UInt64) -> Int {
    guard !isPaused else { return 0 }
    guard breaker.isClosed else { return breaker.mayAdmit(now: now) && !isFull ? 1 : 0 }
    let places = min(slowStart.allowance ?? .max, inFlightMax ?? .max)
    return places == .max ? .max : max(0, places - inFlight)
  }

  /// Why a push to a device may not go now; nil when it may, and then its end must be reported.
  func objection(to device: String, now: UInt64) -> DeviceVerdict? {
    if breaker.isClosed, quarantine.holds(device, now: now) {
      suspicion.turnedAway()
      return .refused(reason: quarantine.reason(for: device))
    }
    guard !isPaused, !isFull, breaker.admit(now: now) else { return turnAway() }
    inFlight += 1
    return nil
  }

  /// What an admitted push shows when it has a stream.
  var permit: PushPermit { PushPermit(from: self, number: breaker.shutCount) }

  /// Takes back an admitted push that was not sent, because its permit had ended.
  func withdraw() -> DeviceVerdict {
    inFlight = max(0, inFlight - 1)
    return turnAway()
  }

  /// Whether as many pushes as it may have are in flight. Further ones wait in the database, not in the places of others.
  private var isFull: Bool { inFlightMax.map { inFlight >= $0 } ?? false }

  /// Whether pushes that found it full may go now: once half of its places are free, so that they come together.
  func endsFullness() -> Bool {
    guard hasTurnedAwayFull, let inFlightMax, inFlight <= inFlightMax / 2 else { return false }
    hasTurnedAwayFull = false
    return breaker.isClosed
  }

  private func turnAway() -> DeviceVerdict {
    isWaitedFor = true
    if isPaused { hasTurnedAwayPaused = true }
    if isFull { hasTurnedAwayFull = true }
    return .waiting(lane: route.name, reason: fault ?? doubtReason ?? (isFull ? "too_many_in_flight" : nil), .none)
  }

  /// Whether a push whose device is unknown in the other environment may try this one. A lane that is shut for its settings
  /// is probed by pushes of tokens registered for it, if any wait.
  func admitTrial(now: UInt64) -> TrialAdmission {
    guard !refusesTrials else { return .impossible }
    let isForOwn = isWaitedFor && breaker.openFault?.cause == .configuration
    guard !isForOwn, breaker.admit(now: now) else { return .notNow(reason: fault) }
    inFlight += 1
    return .admitted
  }
}

extension Lane: PushGate {
  /// Whether a push may go that was admitted when the lane had been shut so many times: while it is open, or to probe it.
  func admits(_ shutCount: Int) -> Bool {
    breaker.isClosed ? !isPaused : breaker.state == .probing && shutCount == breaker.shutCount
  }
}

// Findings of the other reactors' lanes of the same route, and the confirmation of refused tokens.
extension Lane {
  var isMisconfigured: Bool { breaker.openFault?.cause == .configuration }

  /// Another reactor's pushes were refused for a setting, as these would be.
  func stop(because reason: String?, now: UInt64, draw: Double) {
    guard breaker.isClosed else { return }
    suspicion.stopped()
    breaker.stop(LaneFault(cause: .configuration, reason: reason), now: now, draw: draw)
    report(since: nil)
  }

  /// How often it was shut: a finding about a token holds only while that has not changed.
  var shutCount: Int { breaker.shutCount }

  var confirmation: Duration { suspicion.configuration.confirmation }

  /// Judges a token again that seemed bad a moment ago.
  func confirm(_ verdict: DeviceVerdict, sinceShut shutCount: Int) -> DeviceVerdict {
    guard case .dead(let reason, _) = verdict, shutCount != breaker.shutCount || !breaker.isClosed else {
      return verdict
    }
    return .waiting(lane: route.name, reason: reason, .long)
  }
}

struct LaneConfiguration: Sendable {
  var breaker = CircuitBreaker.Configuration()
  var suspicion = TokenSuspicion.Configuration()
}

// While trials of refused tokens are under way in the other environment.
extension Lane {
  /// A token was refused for this reason, and its trial in the other environment begins.
  func beginDoubt(_ reason: String?) {
    doubts += 1
    doubtsInRow += 1
    doubtReason = reason
  }

  /// The trial has ended or could not be made; whether pushes that were turned away meanwhile may go now.
  func endDoubt() -> Bool {
    doubts -= 1
    return endsPause()
  }

  func endsPause() -> Bool {
    guard hasTurnedAwayPaused, !isPaused else { return false }
    hasTurnedAwayPaused = false
    return breaker.isClosed
  }

  /// Whether so many tokens in a row are refused, with their trials under way, that this route is most likely wrong. Nothing
  /// goes until that is known: each refusal counts against the connection.
  var isPaused: Bool {
    breaker.isClosed
      && min(doubts, doubtsInRow) >= (suspicion.isProven ? suspicion.configuration.usersInRowMax : Self.doubtsMax)
  }

  /// On a route without an accepted push, where one refused token shuts it anyway.
  private static let doubtsMax = 1
}

extension Lane {
  /// Logs once when the lane shuts, once when only a change can open it, and once when it opens.
  func report(since before: LaneFault?) {
    let fault = breaker.openFault
    guard before != nil || fault != nil else { return }
    let metadata: Logger.Metadata = ["route": "\(route.name)", "reason": "\(fault?.reason ?? "")"]
    switch (before?.cause, fault?.cause) {
    case (_, nil): logger.notice("a route takes pushes again", metadata: ["route": "\(route.name)"])
    case (.configuration, .configuration): break
    case (_, .configuration):
      logger.error("a route's configuration is refused; its pushes wait in the database", metadata: metadata)
    case (nil, _): logger.error("a route takes no pushes; they wait in the database", metadata: metadata)
    default: break
    }
  }
}

/// How many of the deliveries that waited for a lane may be in flight at once after it is back: one, 8, 64, all.
///
/// Each step ends when as many have been answered as it allows. So a backlog of thousands does not hit a service that has
/// just recovered, or a connection whose stream limit starts at one.
struct LaneSlowStart: Sendable {
  private static let steps = [1, 8, 64]

  private var step = 0
  private var answers = 0

  /// The most that may be in flight; nil without a bound.
  var allowance: Int? { step < Self.steps.count ? Self.steps[step] : nil }

  /// The lane is back: its probe was the first.
  mutating func begin() {
    step = 1
    answers = 0
  }

  /// A push was answered, other than by a fault of the lane.
  /// - Returns: whether more may go now.
  mutating func answered() -> Bool {
    guard let allowance else { return false }
    answers += 1
    guard answers >= allowance else { return false }
    step += 1
    answers = 0
    return true
  }
}
