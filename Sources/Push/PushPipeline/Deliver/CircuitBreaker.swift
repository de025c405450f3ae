internal import PushRules
internal import Reactors

/// Keeps pushes out of a lane that takes none, so that they wait in the database instead of here.
///
/// Closed, everything goes. When only faults have come back for a while it opens: nothing goes until the time of a probe. One
/// push then goes alone; its success closes the breaker, its failure opens it for twice as long.
///
/// A value: time comes in as monotonic nanoseconds.
struct CircuitBreaker: Sendable {
  struct Configuration: Sendable {
    /// Faults without a success in between. A lost connection fails everything in flight at once, so the number alone says
    /// little; together with `silence` it keeps one unlucky push on a quiet night from opening the breaker.
    var faultsMin = 5
    /// How long only faults have come back. A new connection takes some 100 ms. Refused settings do not wait for it: they come
    /// one by one, and each counts against the connection.
    var silence = Duration.seconds(1)
    /// Until a probe while the service is out. One push every five seconds is cheap, and the first sign of a recovery.
    var outage = ProbeWait(shortest: .milliseconds(500), longest: .seconds(5))
    /// Until a probe while the service refuses the sender. Only a change at its side heals that by itself, and refusals count
    /// against the connection.
    var refusal = ProbeWait(shortest: .seconds(1), longest: .seconds(60))
  }

  /// The wait for the first probe, and the longest; it doubles in between.
  struct ProbeWait: Sendable {
    var shortest: Duration
    var longest: Duration
  }

  private let configuration: Configuration
  private(set) var state = BreakerState.closed
  /// The time of the next probe while it is open.
  private var openUntil: UInt64 = 0
  private var faults = 0
  private var firstFaultAt: UInt64 = 0
  /// Devices of the counted faults that may be one device's; at most `faultsMin`.
  private var devices: Set<String> = []
  private var openings = 0

  /// How often it has opened, over everything.
  private(set) var shutCount = 0

  /// The latest fault since the last success.
  private(set) var lastFault: LaneFault?

  init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  var isClosed: Bool { state == .closed }

  var openFault: LaneFault? { isClosed ? nil : lastFault }

  func mayAdmit(now: UInt64) -> Bool {
    switch state {
    case .closed: true
    case .open: now >= openUntil
    case .probing: false
    }
  }

  /// Whether a push is let through; if so, its end must be reported.
  mutating func admit(now: UInt64) -> Bool {
    guard mayAdmit(now: now) else { return false }
    if state != .closed { state = .probing }
    return true
  }

  /// A push has shown that the way to the device is right. One sent before the breaker opened for a wrong setting shows
  /// nothing about the setting.
  mutating func accepted() {
    if state == .open, lastFault?.endsWithAnyAnswer == false { return }
    close()
  }

  /// A push was refused for the fault of the push or its device: the lane works, though its settings may be wrong.
  mutating func answered(now: UInt64, draw: Double) {
    guard state != .closed, lastFault?.endsWithAnyAnswer == false else { return close() }
    if state == .probing { open(now: now, draw: draw) }
  }

  /// The lane itself has failed, or seems to.
  /// - Parameters:
  ///   - device: the push's device, when the fault may be that device's alone; counted once. Nil otherwise.
  ///   - draw: a random number in `0 ..< 1`; replicas do not probe in step.
  mutating func failed(_ fault: LaneFault, device: String? = nil, now: UInt64, draw: Double) {
    switch state {
    case .closed:
      count(fault, of: device, now: now)
      let silence = now - min(now, firstFaultAt)
      let isClear = fault.cause == .configuration || silence >= configuration.silence.clampedNanoseconds
      if faults >= configuration.faultsMin, isClear { open(now: now, draw: draw) }
    case .probing:
      lastFault = fault
      open(now: now, draw: draw)
    // Sent before it opened; only the wait that it asks for is news.
    case .open: openUntil = max(openUntil, now &+ fault.askedWait.clampedNanoseconds)
    }
  }

  /// Opens at once, or stays open for this reason.
  mutating func stop(_ fault: LaneFault, now: UInt64, draw: Double) {
    lastFault = fault
    if state != .open { open(now: now, draw: draw) }
  }

  private mutating func count(_ fault: LaneFault, of device: String?, now: UInt64) {
    lastFault = fault
    if let device, devices.count < configuration.faultsMin, !devices.insert(device).inserted { return }
    if faults == 0 { firstFaultAt = now }
    faults += 1
  }

  private mutating func close() {
    guard state != .closed || faults > 0 else { return }
    let shutCount = shutCount
    self = CircuitBreaker(configuration)
    self.shutCount = shutCount
  }

  private mutating func open(now: UInt64, draw: Double) {
    let isOutage = lastFault?.cause == .connection || lastFault?.cause == .service
    let probe = isOutage ? configuration.outage : configuration.refusal
    let drawn = min(probe.shortest * (1 << min(openings, 10)), probe.longest) * (0.75 + draw / 2)
    let asked = (lastFault?.askedWait ?? .zero) * (1 + draw / 4)
    let wait = max(drawn, asked)
    openings += 1
    shutCount += 1
    state = .open
    openUntil = now &+ wait.clampedNanoseconds
  }
}

/// Whether the pushes of a route go.
package enum BreakerState: String, CaseIterable, Sendable {
  case closed
  /// They wait in the database.
  case open
  /// They wait, and one is on its way to find out whether the others may go.
  case probing
}

/// Why a whole lane takes no pushes, or may take none.
struct LaneFault: Equatable, Sendable {
  let cause: DeliveryFault

  /// The service's reason, or what the connection did, as the ledger keeps it.
  let reason: String?

  var askedWait = Duration.zero

  /// Whether any other answer ends it. Only an accepted push shows that a setting is right.
  var endsWithAnyAnswer: Bool { cause != .configuration }
}
