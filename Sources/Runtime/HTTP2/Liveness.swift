internal import Reactors

/// Decides when to PING a silent peer, and when to give it up. Times are monotonic nanoseconds.
///
/// Any frame is a sign of life, not only the PING's acknowledgement.
struct Liveness {
  enum Action: Equatable {
    case check(at: UInt64)
    case ping(nextCheck: UInt64)
    /// The answer to the PING is late, so the peer may be dead. Check again at this time.
    case suspect(nextCheck: UInt64)
    case giveUp
  }

  private let silenceWhileBusy: UInt64
  private let silenceWhileIdle: UInt64
  private let pingLateAfter: UInt64
  private let pingTimeout: UInt64
  private var quietSince: UInt64
  private var pingSentAt: UInt64?

  /// Whether a PING's answer is late and nothing has arrived since.
  private(set) var isSuspect = false

  init(_ configuration: HTTP2ClientConfiguration, now: UInt64) {
    silenceWhileBusy = configuration.silenceBeforePing.clampedNanoseconds
    silenceWhileIdle = configuration.idleBeforePing.clampedNanoseconds
    pingTimeout = configuration.pingTimeout.clampedNanoseconds
    pingLateAfter = min(configuration.pingLateAfter.clampedNanoseconds, pingTimeout)
    quietSince = now
  }

  mutating func heard(now: UInt64) {
    quietSince = now
    pingSentAt = nil
    isSuspect = false
  }

  /// The first request is on the wire: silence before it does not count.
  mutating func becameBusy(now: UInt64) {
    quietSince = max(quietSince, now)
  }

  private func nextCheck(isBusy: Bool) -> UInt64 {
    guard let pingSentAt else { return quietSince &+ (isBusy ? silenceWhileBusy : silenceWhileIdle) }
    return pingSentAt &+ (isSuspect ? pingTimeout : pingLateAfter)
  }

  mutating func check(now: UInt64, isBusy: Bool) -> Action {
    let due = nextCheck(isBusy: isBusy)
    if now < due { return .check(at: due) }
    let isAnswerDue = pingSentAt != nil
    // This side was held up if the check is late. The answer may be unread, so it gets its time again.
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
