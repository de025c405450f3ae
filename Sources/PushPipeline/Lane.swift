internal import APNS
internal import APNSCore
internal import FoundationEssentials
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
  private let logger: Logger
  private var breaker: CircuitBreaker
  private var suspicion: TokenSuspicion
  private var quarantine = TokenQuarantine()
  private var slowStart = LaneSlowStart()
  private var inFlight = 0
  private var refusesTrials = false
  /// Refused tokens that the other environment is being asked about.
  private var doubts = 0
  /// Tokens refused like this since a push was accepted.
  private var doubtsInRow = 0
  private var doubtReason: String?
  private var hasTurnedAwayPaused = false

  /// Whether pushes of its own tokens wait for it, as far as it has heard since it shut.
  private(set) var isWaitedFor = false

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

  /// Whether so many tokens in a row are refused, and being asked about in the other environment, that this route is most
  /// likely wrong. Nothing goes until it is known: each refusal counts against the connection.
  private var isPaused: Bool {
    breaker.isClosed
      && min(doubts, doubtsInRow) >= (suspicion.isProven ? suspicion.configuration.usersInRowMax : Self.doubtsMax)
  }

  /// On a route that nothing has passed yet.
  private static let doubtsMax = 2

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

  /// A token was refused for this reason, and the other environment is asked about it.
  func beginDoubt(_ reason: String?) {
    doubts += 1
    doubtsInRow += 1
    doubtReason = reason
  }

  /// The other environment has answered, or cannot be asked; whether what was turned away meanwhile may go now.
  func endDoubt() -> Bool {
    doubts -= 1
    return endsPause()
  }

  private func endsPause() -> Bool {
    guard hasTurnedAwayPaused, !isPaused else { return false }
    hasTurnedAwayPaused = false
    return breaker.isClosed
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

// What became of pushes. Every method here ends one that was admitted, and says whether more of what waits may go now.
extension Lane {
  /// Takes the end of a push.
  /// - Parameter user: whose device it is; nil for somebody of whom nothing else is known.
  func note(
    _ attempt: PushAttempt, to device: String, of user: UUID? = nil, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let before = breaker.openFault
    let verdict = verdict(on: attempt, to: device, of: user, now: now, draw: draw)
    let hasMoreRoom = end(attempt.finding, since: before)
    if case .waiting = verdict { isWaitedFor = true }
    return (verdict, hasMoreRoom)
  }

  /// Takes the end of a push whose device is none of this environment, whatever became of it in the other.
  func noteElsewhere(now: UInt64, draw: Double) -> Bool {
    let before = breaker.openFault
    breaker.answered(now: now, draw: draw)
    return end(.suspect, since: before)
  }

  /// Takes the end of a push of the other environment. Its refusal says nothing about this lane's tokens, and a
  /// credential that is for the other environment alone is no fault.
  func noteTrial(_ attempt: PushAttempt, now: UInt64, draw: Double) -> Bool {
    let before = breaker.openFault
    switch attempt.finding {
    case .accepted, .dead: prove()
    case .suspect, .refused, .throttled: breaker.answered(now: now, draw: draw)
    case .fault where attempt.refusesEnvironment:
      refusesTrials = true
      // The connection works; whether the settings do is for pushes of the lane's own to find out.
      breaker.accepted()
    case .fault(let cause):
      breaker.failed(LaneFault(cause, attempt), now: now, draw: draw)
    }
    return end(attempt.finding, since: before)
  }

  private func end(_ finding: PushFinding, since before: LaneFault?) -> Bool {
    inFlight = max(0, inFlight - 1)
    report(since: before)
    if breaker.isClosed { isWaitedFor = false }
    if before != nil, breaker.isClosed {
      slowStart.begin()
      return true
    }
    if case .fault = finding { return false }
    let isPauseOver = endsPause()
    return breaker.isClosed && slowStart.answered() || isPauseOver
  }

  private func verdict(
    on attempt: PushAttempt, to device: String, of user: UUID?, now: UInt64, draw: Double
  ) -> DeviceVerdict {
    switch attempt.finding {
    case .accepted:
      prove()
      quarantine.accepted(device)
      return .accepted
    case .dead(let milliseconds):
      prove()
      return .dead(reason: attempt.ledgerReason, sinceMilliseconds: milliseconds)
    case .suspect:
      return judge(device, of: user ?? UUID(), reason: attempt.ledgerReason, now: now, draw: draw)
    case .refused:
      answered(now: now, draw: draw)
      return .refused(reason: attempt.ledgerReason)
    case .throttled(let minimum):
      answered(now: now, draw: draw)
      return .postponed(reason: attempt.ledgerReason, minimum: minimum)
    case .fault(let cause):
      if attempt.refusesEnvironment { refusesTrials = true }
      return fail(LaneFault(cause, attempt), to: device, now: now, draw: draw)
    }
  }

  private func prove() {
    doubtsInRow = 0
    breaker.accepted()
    suspicion.accepted()
    refusesTrials = false
  }

  private func answered(now: UInt64, draw: Double) {
    breaker.answered(now: now, draw: draw)
    suspicion.answered()
  }

  /// A token was refused without proof. While the route's settings are in doubt no token is.
  private func judge(_ device: String, of user: UUID, reason: String?, now: UInt64, draw: Double) -> DeviceVerdict {
    breaker.answered(now: now, draw: draw)
    guard breaker.isClosed else { return .waiting(lane: route.name, reason: reason, .long) }
    switch suspicion.refused(of: user) {
    case .badToken:
      return .dead(reason: reason, sinceMilliseconds: nil)
    case .unexplained:
      quarantine.add(device, reason: reason, now: now)
      return .refused(reason: reason)
    case .misconfigured:
      breaker.stop(LaneFault(cause: .configuration, reason: reason), now: now, draw: draw)
      return .waiting(lane: route.name, reason: reason, .long)
    }
  }

  /// On a route where nothing has been accepted yet the first refusal of the settings is believed.
  private func fail(_ fault: LaneFault, to device: String, now: UInt64, draw: Double) -> DeviceVerdict {
    if fault.cause == .configuration, !suspicion.isProven {
      breaker.stop(fault, now: now, draw: draw)
    } else {
      breaker.failed(fault, device: fault.cause == .service ? device : nil, now: now, draw: draw)
    }
    // Others pass, so this one waits by itself, longer from time to time.
    if fault.cause == .service, breaker.isClosed { return .postponed(reason: fault.reason, minimum: fault.askedWait) }
    return .waiting(lane: route.name, reason: fault.reason, .brief)
  }

  /// Says it once when the lane shuts, once when it is clear that only a change will open it, and once when it opens.
  private func report(since before: LaneFault?) {
    let fault = breaker.openFault
    guard before != nil || fault != nil else { return }
    let metadata: Logger.Metadata = ["route": "\(route.name)", "reason": "\(fault?.reason ?? "")"]
    switch (before?.cause, fault?.cause) {
    case (_, nil): logger.notice("APNs takes pushes again", metadata: ["route": "\(route.name)"])
    case (.configuration, .configuration): break
    case (_, .configuration):
      logger.error("APNs refuses a route's configuration; its pushes wait in the database", metadata: metadata)
    case (nil, _): logger.error("APNs takes no pushes; they wait in the database", metadata: metadata)
    default: break
    }
  }
}

extension LaneFault {
  fileprivate init(_ cause: Cause, _ attempt: PushAttempt) {
    self.init(cause: cause, reason: attempt.ledgerReason, askedWait: attempt.askedWait)
  }
}

/// When lanes shut.
struct LaneConfiguration: Sendable {
  var breaker = CircuitBreaker.Configuration()
  var suspicion = TokenSuspicion.Configuration()
}
