internal import Reactors

package struct HTTP2ClientConfiguration: Sendable {
  /// Concurrent requests before the server's first SETTINGS. RFC 9113 §6.5.2 recommends servers to allow at least 100. APNs
  /// allows 1.
  package var initialStreamsMax = 100
  /// Concurrent requests, even if the server allows more.
  package var streamsMax = 1000
  /// Requests that may wait for a stream; more are refused at once. One second of work at 5,000 a second.
  package var waitingRequestsMax = 5000
  /// Bytes of one response's body. A longer response is cancelled.
  package var responseBodyBytesMax = 64 * 1024
  /// Bytes of one response's header fields, plus 8 for each field.
  package var responseFieldsBytesMax = 16 * 1024
  /// The server's silence before a PING, while requests are on the wire.
  package var silenceBeforePing = Duration.seconds(5)
  /// The server's silence before a PING on an idle connection. APNs wants at most one PING an hour.
  package var idleBeforePing = Duration.seconds(3600)
  /// The wait for any frame after a PING until the connection is suspect (``HTTP2Connection/isSuspect``). Half a second
  /// is longer than any round trip, and leaves time to open another connection before this one is given up.
  package var pingLateAfter = Duration.milliseconds(500)
  /// The wait for any frame after a PING until the connection is given up.
  package var pingTimeout = Duration.seconds(5)
  /// The connection drains when the next stream's id has passed this. Ids are never reused and end at 2^31 - 1.
  package var streamIDMax = Int32.max - 10_000
  /// The first stream's id, odd. Larger than 1 only in tests of the last ids.
  var firstStreamID: Int32 = 1

  package init() {}
}

package struct HTTP2ServerConfiguration: Sendable {
  /// Concurrent requests, announced in SETTINGS.
  package var streamsMax = 1000
  /// Whether to refuse streams above `streamsMax` with REFUSED_STREAM.
  package var refusesExcessStreams = true
  /// Bytes of a request's body to keep. The rest is counted and dropped, so that a handler can answer 413.
  package var requestBodyBytesMax = 64 * 1024
  /// Bytes of a request's header fields, plus 8 for each field. A stream with more is reset.
  package var requestFieldsBytesMax = 64 * 1024
  package var handshakeTimeout = Duration.seconds(10)
  /// Connections of one listener, including those in their handshake. More are closed at once.
  package var connectionsMax = 1000

  package init() {}
}

/// Decides when to PING a silent peer, and when to give it up. Times are monotonic nanoseconds.
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
  mutating func becameBusy(now: UInt64) { quietSince = max(quietSince, now) }

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
