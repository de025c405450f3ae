internal import Reactors

/// Keeps pushes out of a lane that takes none, so that they wait in the database instead of here.
///
/// Closed, everything goes. When nothing but faults has come back for a while it opens: nothing goes, until the time of
/// a probe. One push then goes alone; its success closes the breaker, its failure opens it for twice as long.
///
/// A value: time comes in as monotonic nanoseconds.
struct CircuitBreaker: Sendable {
  /// When it opens, and for how long.
  struct Configuration: Sendable {
    /// Faults without a success in between. A lost connection fails everything in flight at once, so that their number
    /// alone says little; together with `silence` it keeps one unlucky push on a quiet night from opening the breaker.
    var faultsMin = 5
    /// How long only faults have come back. A new connection takes some 100 ms.
    var silence = Duration.seconds(1)
    /// The first time until a probe.
    var shortest = Duration.milliseconds(500)
    /// The longest. One push every five seconds is no burden to anybody, and the first sign of a recovery.
    var longest = Duration.seconds(5)
  }

  private enum State: Equatable {
    case closed
    case open(until: UInt64)
    case probing
  }

  private let configuration: Configuration
  private var state = State.closed
  private var faults = 0
  private var firstFaultAt: UInt64 = 0
  private var openings = 0

  /// The reason of the latest fault, as the ledger keeps it.
  private(set) var lastFault: String?

  /// Starts closed.
  init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  var isClosed: Bool { state == .closed }

  /// Whether a push would be let through now.
  func mayAdmit(now: UInt64) -> Bool {
    switch state {
    case .closed: true
    case .open(let until): now >= until
    case .probing: false
    }
  }

  /// Lets a push through, or not. One that is let through must be followed by its success or failure.
  mutating func admit(now: UInt64) -> Bool {
    guard mayAdmit(now: now) else { return false }
    if state != .closed { state = .probing }
    return true
  }

  /// The lane has taken a push, or has refused it for the push's own fault.
  mutating func succeeded() {
    state = .closed
    faults = 0
    openings = 0
    lastFault = nil
  }

  /// The lane itself has failed.
  /// - Parameter draw: a random number in `0 ..< 1`; replicas do not probe in step.
  mutating func failed(_ reason: String?, now: UInt64, draw: Double) {
    lastFault = reason
    if faults == 0 { firstFaultAt = now }
    faults += 1
    switch state {
    case .closed:
      let silence = now - min(now, firstFaultAt)
      if faults >= configuration.faultsMin, silence >= configuration.silence.clampedNanoseconds {
        open(now: now, draw: draw)
      }
    case .probing: open(now: now, draw: draw)
    // Sent before it opened.
    case .open: break
    }
  }

  private mutating func open(now: UInt64, draw: Double) {
    let wait = min(configuration.shortest * (1 << min(openings, 10)), configuration.longest) * (0.75 + draw / 2)
    openings += 1
    state = .open(until: now &+ wait.clampedNanoseconds)
  }
}
