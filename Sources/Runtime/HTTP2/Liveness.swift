/// Decides when a silent peer is asked for a sign of life, and when it is given up. Times are monotonic nanoseconds.
///
/// Any frame is a sign of life, not just the PING's acknowledgement.
struct Liveness {
  enum Action: Equatable {
    /// Look again then.
    case check(at: UInt64)
    /// Send a PING, and look again then.
    case ping(nextCheck: UInt64)
    /// The answer to the PING is late: the peer may be dead. Look again then.
    case suspect(nextCheck: UInt64)
    /// The peer is dead.
    case giveUp
  }

  private let silenceWhileBusy: UInt64
  private let silenceWhileIdle: UInt64
  private let pingLateAfter: UInt64
  private let pingTimeout: UInt64
  private var quietSince: UInt64
  private var pingSentAt: UInt64?

  /// A PING's answer is late, and nothing has come since.
  private(set) var isSuspect = false

  init(_ configuration: HTTP2ClientConfiguration, now: UInt64) {
    silenceWhileBusy = configuration.silenceBeforePing.wholeNanoseconds
    silenceWhileIdle = configuration.idleBeforePing.wholeNanoseconds
    pingTimeout = configuration.pingTimeout.wholeNanoseconds
    pingLateAfter = min(configuration.pingLateAfter.wholeNanoseconds, pingTimeout)
    quietSince = now
  }

  /// Something arrived.
  mutating func heard(now: UInt64) {
    quietSince = now
    pingSentAt = nil
    isSuspect = false
  }

  /// A request is on the wire after there was none: the silence before it does not count.
  mutating func becameBusy(now: UInt64) {
    quietSince = max(quietSince, now)
  }

  /// When the peer has to be looked at next, counted from what is known.
  func nextCheck(isBusy: Bool) -> UInt64 {
    guard let pingSentAt else { return quietSince &+ (isBusy ? silenceWhileBusy : silenceWhileIdle) }
    return pingSentAt &+ (isSuspect ? pingTimeout : pingLateAfter)
  }

  mutating func check(now: UInt64, isBusy: Bool) -> Action {
    let due = nextCheck(isBusy: isBusy)
    if now < due { return .check(at: due) }
    let isAnswerDue = pingSentAt != nil
    // A look that comes late means that this side was held up: the answer may lie unread, so it gets its time again.
    guard isAnswerDue, now - due <= pingTimeout / 4 else {
      pingSentAt = now
      let next = nextCheck(isBusy: isBusy)
      return isAnswerDue ? .check(at: next) : .ping(nextCheck: next)
    }
    if isSuspect { return .giveUp }
    isSuspect = true
    return .suspect(nextCheck: nextCheck(isBusy: isBusy))
  }
}
