internal import Channels
internal import FoundationEssentials
internal import Logging
internal import PushRules
internal import PushStore
internal import Reactors

/// The health of one route, as this process knows it: whether pushes go, and what their answers mean.
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
  private let inFlightMax: Int?
  private let logger: Logger
  private(set) var breaker: CircuitBreaker
  private var suspicion: TokenSuspicion
  private(set) var quarantine = TokenQuarantine()
  private var slowStart = LaneSlowStart()
  private var doubts = TokenDoubts()
  private var inFlight = 0
  /// Whether its credential is not for pushes of the other environment's tokens.
  private var refusesTrials = false
  /// Whether pushes were turned away while it was paused.
  private var hasTurnedAwayPaused = false
  /// Whether pushes were turned away because as many as may be were in flight.
  private var hasTurnedAwayFull = false

  /// Whether pushes of tokens registered for it wait for it, as far as known since it shut.
  private(set) var isWaitedFor = false

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
  private func endsFullness() -> Bool {
    guard hasTurnedAwayFull, let inFlightMax, inFlight <= inFlightMax / 2 else { return false }
    hasTurnedAwayFull = false
    return breaker.isClosed
  }

  private func turnAway() -> DeviceVerdict {
    isWaitedFor = true
    if isPaused { hasTurnedAwayPaused = true }
    if isFull { hasTurnedAwayFull = true }
    return .waiting(lane: route.name, reason: fault ?? doubts.reason ?? (isFull ? "too_many_in_flight" : nil), .none)
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

// The confirmation of refused tokens.
extension Lane {
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
  func beginDoubt(_ reason: String?) { doubts.begin(reason) }

  /// The trial has ended or could not be made; whether pushes that were turned away meanwhile may go now.
  func endDoubt() -> Bool {
    doubts.end()
    return endsPause()
  }

  private func endsPause() -> Bool {
    guard hasTurnedAwayPaused, !isPaused else { return false }
    hasTurnedAwayPaused = false
    return breaker.isClosed
  }

  /// Whether so many tokens in a row are refused, with their trials under way, that this route is most likely wrong. Nothing
  /// goes until that is known: each refusal counts against the connection.
  private var isPaused: Bool {
    breaker.isClosed
      && doubts.count >= (suspicion.isProven ? suspicion.configuration.usersInRowMax : TokenDoubts.unprovenMax)
  }
}

/// Refused tokens of a route that may be known in the app's other environment.
private struct TokenDoubts {
  /// On a route without an accepted push, where one refused token shuts it anyway.
  static let unprovenMax = 1

  private var trialsUnderWay = 0
  /// Since a push was accepted.
  private var refusedInRow = 0
  /// Of the latest refusal.
  private(set) var reason: String?

  /// Those in a row whose trials are under way.
  var count: Int { min(trialsUnderWay, refusedInRow) }

  mutating func begin(_ reason: String?) {
    trialsUnderWay += 1
    refusedInRow += 1
    self.reason = reason
  }

  mutating func end() { trialsUnderWay -= 1 }

  mutating func accepted() { refusedInRow = 0 }
}

extension Lane {
  /// Logs once when the lane shuts, once when only a change can open it, and once when it opens.
  private func report(since before: LaneFault?) {
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

// The ends of pushes. Each method here ends one that was admitted, and says whether more waiting pushes may go now.
extension Lane {
  /// Takes the end of a push.
  /// - Parameter user: the device's owner; nil for an unknown one.
  func conclude(
    _ attempt: DeliveryAttempt, to device: String, of user: HostID? = nil, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let before = breaker.openFault
    let verdict = verdict(on: attempt, to: device, of: user, now: now, draw: draw)
    return finish(verdict, isFault: attempt.fault != nil, since: before)
  }

  private func finish(
    _ verdict: DeviceVerdict, isFault: Bool = false, since before: LaneFault?
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let hasMoreRoom = end(isFault: isFault, since: before)
    if case .waiting = verdict { isWaitedFor = true }
    return (verdict, hasMoreRoom)
  }

  /// Takes the end of a push whose token is not of this environment, independent of the other environment's answer.
  func concludeElsewhere(now: UInt64, draw: Double) -> Bool {
    let before = breaker.openFault
    breaker.answered(now: now, draw: draw)
    return end(since: before)
  }

  /// Takes the end of a push whose token was refused after the lane had shut, or while as many trials as allowed were under
  /// way. Its next attempt makes the trial; a crowd of trials would only be refused in the other environment too.
  func putOff(_ attempt: DeliveryAttempt, now: UInt64, draw: Double) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let before = breaker.openFault
    breaker.answered(now: now, draw: draw)
    hasTurnedAwayPaused = hasTurnedAwayPaused || isPaused
    let verdict = DeviceVerdict.waiting(
      lane: route.name, reason: attempt.ledgerReason, breaker.isClosed ? .brief : .long)
    return finish(verdict, since: before)
  }

  /// Takes the end of a push whose token was refused, without an answer from the other environment. That says nothing about
  /// the token. Where all tokens are refused the route is stopped all the same, or every one of them would be sent to.
  func concludeUnresolved(
    _ attempt: DeliveryAttempt, because reason: String?, of user: HostID, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let before = breaker.openFault
    breaker.answered(now: now, draw: draw)
    var verdict = DeviceVerdict.postponed(reason: reason, minimum: PushDisposition.tooManyWait)
    if !breaker.isClosed || suspicion.refused(of: user) == .misconfigured {
      verdict = stop(for: attempt.ledgerReason, now: now, draw: draw)
    }
    return finish(verdict, since: before)
  }

  /// Takes the end of a trial: a push whose token is registered for the other environment. Its refusal says nothing about
  /// this lane's tokens, and a credential for the other environment alone is not a fault.
  func concludeTrial(_ attempt: DeliveryAttempt, now: UInt64, draw: Double) -> Bool {
    let before = breaker.openFault
    let fault = attempt.laneFault
    switch attempt.disposition {
    case .accepted, .dropToken: prove()
    case _ where attempt.otherEnvironment == .ownsCredential:
      refusesTrials = true
      // The connection works; pushes of the lane's own tokens find out whether the settings do.
      breaker.accepted()
    default:
      if let fault { breaker.failed(fault, now: now, draw: draw) } else { breaker.answered(now: now, draw: draw) }
    }
    return end(isFault: fault != nil, since: before)
  }

  private func end(isFault: Bool = false, since before: LaneFault?) -> Bool {
    inFlight = max(0, inFlight - 1)
    report(since: before)
    if breaker.isClosed { isWaitedFor = false }
    if before != nil, breaker.isClosed {
      slowStart.begin()
      return true
    }
    if isFault { return false }
    let (isPauseOver, isRoomBack) = (endsPause(), endsFullness())
    return breaker.isClosed && slowStart.answered() || isPauseOver || isRoomBack
  }

  private func verdict(
    on attempt: DeliveryAttempt, to device: String, of user: HostID?, now: UInt64, draw: Double
  ) -> DeviceVerdict {
    if let fault = attempt.laneFault {
      if attempt.otherEnvironment == .ownsCredential { refusesTrials = true }
      return fail(fault, to: device, now: now, draw: draw)
    }
    switch attempt.disposition {
    case .accepted:
      prove()
      quarantine.accepted(device)
      return .accepted
    case .dropToken(let milliseconds):
      prove()
      return .dead(reason: attempt.ledgerReason, sinceMilliseconds: milliseconds)
    case .suspectToken:
      return judge(attempt, to: device, of: user ?? HostID(UUID()), now: now, draw: draw)
    case .retryLater(let minimum):
      answered(now: now, draw: draw)
      return .postponed(reason: attempt.ledgerReason, minimum: max(minimum, attempt.askedWait))
    default:
      // The push's own fault: those of the lane were handled first.
      answered(now: now, draw: draw)
      return .refused(reason: attempt.ledgerReason)
    }
  }

  private func prove() {
    doubts.accepted()
    breaker.accepted()
    suspicion.accepted()
    refusesTrials = false
  }

  private func answered(now: UInt64, draw: Double) {
    breaker.answered(now: now, draw: draw)
    suspicion.answered()
  }

  /// A token was refused without proof. While the route's settings are in doubt, no token is.
  private func judge(
    _ attempt: DeliveryAttempt, to device: String, of user: HostID, now: UInt64, draw: Double
  ) -> DeviceVerdict {
    let reason = attempt.ledgerReason
    breaker.answered(now: now, draw: draw)
    guard breaker.isClosed else { return .waiting(lane: route.name, reason: reason, .long) }
    switch suspicion.refused(of: user) {
    case .badToken where attempt.repeatsPush, .unexplained where attempt.repeatsPush:
      return .postponed(reason: reason, minimum: attempt.askedWait)
    case .badToken:
      return .dead(reason: reason, sinceMilliseconds: nil)
    case .unexplained:
      quarantine.add(device, reason: reason, now: now)
      return .refused(reason: reason)
    case .misconfigured:
      return stop(for: reason, now: now, draw: draw)
    }
  }

  private func stop(for reason: String?, now: UInt64, draw: Double) -> DeviceVerdict {
    breaker.stop(LaneFault(cause: .configuration, reason: reason), now: now, draw: draw)
    return .waiting(lane: route.name, reason: reason, .long)
  }

  /// On a route without an accepted push the first refusal of the settings counts.
  private func fail(_ fault: LaneFault, to device: String, now: UInt64, draw: Double) -> DeviceVerdict {
    if fault.cause == .configuration, !suspicion.isProven {
      breaker.stop(fault, now: now, draw: draw)
    } else {
      breaker.failed(fault, device: fault.cause == .service ? device : nil, now: now, draw: draw)
    }
    // Other pushes pass, so this one waits by itself, longer from time to time.
    if fault.cause == .service, breaker.isClosed { return .postponed(reason: fault.reason, minimum: fault.askedWait) }
    return .waiting(lane: route.name, reason: fault.reason, .brief)
  }
}

extension DeliveryAttempt {
  /// The fault of the lane that the attempt shows; nil when it concerns the push or its device alone.
  var laneFault: LaneFault? { fault.map { LaneFault(cause: $0, reason: ledgerReason, askedWait: askedWait) } }
}

/// The routes that pushes take, those of every channel, each with its lane.
struct Lanes {
  enum Admission {
    /// It may; the lane must be told its end.
    case admitted(Lane)
    case turnedAway(DeviceVerdict)
  }

  private let configuration: LaneConfiguration
  private var lanes: [DeliveryRoute: Lane] = [:]
  private let logger: Logger

  init(_ configuration: LaneConfiguration, logger: Logger) {
    self.configuration = configuration
    self.logger = logger
  }

  /// Takes the routes that are configured from now on. Those that stay keep their lanes, unless their settings are new.
  mutating func update(_ deliverers: some Sequence<any PushDeliverer>, renewed: Set<DeliveryRoute> = []) {
    var next: [DeliveryRoute: Lane] = [:]
    for deliverer in deliverers {
      for route in deliverer.routes {
        let known = renewed.contains(route) ? nil : lanes[route]
        next[route] =
          known ?? Lane(route, inFlightMax: deliverer.pushesInFlightMax, configuration, logger: logger)
      }
    }
    lanes = next
  }

  subscript(route: DeliveryRoute) -> Lane? { lanes[route] }

  func isOpen(_ name: String) -> Bool {
    lanes.values.contains { $0.route.name == name && $0.room(now: Reactor.now) > 0 }
  }

  func admit(_ device: String, to route: DeliveryRoute) -> Admission {
    guard let lane = lanes[route] else {
      return .turnedAway(.waiting(lane: route.name, reason: Self.isNotConfigured, .none))
    }
    return lane.objection(to: device, now: Reactor.now).map { .turnedAway($0) } ?? .admitted(lane)
  }

  /// What a claim may take of the waiting deliveries: as many as a working lane has room for, one to probe a shut one.
  func claimable(deliveriesMax: Int) -> [String: Int] {
    let now = Reactor.now
    let rooms = lanes.values.map { ($0.route.name, min($0.room(now: now), deliveriesMax)) }
    return Dictionary(uniqueKeysWithValues: rooms.filter { $0.1 > 0 })
  }

  /// A claim of all waiting deliveries whose route is configured, also of shut lanes.
  var all: [String: Int] { Dictionary(uniqueKeysWithValues: lanes.keys.map { ($0.name, 1) }) }

  /// The reason of a push whose app is not configured: it waits until an operator configures it.
  static let isNotConfigured = "app_not_configured"

  /// The reason of a push over a channel that is switched off, which nothing waits for.
  static let isNotSetUp = "channel_not_configured"
}
