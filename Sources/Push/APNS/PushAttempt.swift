public import APNSCore
public import Reactors

/// How one attempt to hand a push to APNs ended.
public enum PushAttempt: Equatable, Sendable {
  /// APNs answered.
  case answered(PushAnswer)
  /// The request ended without an answer.
  case failed(TransportFailure)
  /// APNs has closed the connection because of a credential or a setting, with this reason; the push was not sent.
  case refused(PushReason)
  /// Its permit ended before a stream was free; nothing was sent.
  case withdrawn

  /// What is to be done next; a push whose fate is unknown may be resent, because its identifiers stay the same.
  public var disposition: PushDisposition {
    switch self {
    case .answered(let answer): .disposition(of: answer)
    case .failed, .withdrawn: .retryLater(minimumWait: .zero)
    case .refused: .fixCredentials
    }
  }

  /// The reason as the ledger keeps it: APNs' own word, or what the connection did. Nil for an accepted push.
  public var reason: String? {
    switch self {
    case .answered(let answer) where answer.status == 200: nil
    case .withdrawn: nil
    case .answered(let answer): answer.reason?.rawValue ?? "http_\(answer.status)"
    case .failed(.notProcessed): "apns_unreachable"
    case .failed(.unknown): "apns_answer_lost"
    case .refused(let reason): reason.rawValue
    }
  }

  /// Whether it shows that the lane works: APNs took the push, or refused it for the push's or the device's own fault.
  var provesLane: Bool {
    switch disposition {
    case .accepted, .dropToken, .never, .fixRequest: return true
    case .fixCredentials, .refreshProviderToken, .reconnect: return false
    case .retryLater:
      guard case .answered(let answer) = self else { return false }
      return answer.reason == "TooManyRequests"
    }
  }
}

/// Something that hands pushes to APNs: the real channel, or a script in a test.
public protocol PushChannel: AnyObject {
  /// Sends a push once, and again only where APNs provably did nothing with it.
  /// - Parameters:
  ///   - deadline: when the attempt ends at the latest, in monotonic nanoseconds, as `Reactor.now`.
  ///   - permit: asked each time before the push goes; without it, it is withdrawn. Nil lets it go.
  func send(
    _ request: PushRequest, over route: PushRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> PushAttempt
}
