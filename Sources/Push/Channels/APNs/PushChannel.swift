package import PushRules
package import Reactors

/// How one attempt to send a push to APNs ended.
package enum PushAttempt: Equatable, Sendable {
  case answered(PushAnswer)
  case failed(TransportFailure)
  /// APNs has closed the connection because of a credential or a setting, for this reason; the push was not sent.
  case refused(PushReason)
  /// Its permit ended before a stream was free; the push was not sent.
  case withdrawn

  package var status: Int? {
    if case .answered(let answer) = self { answer.status } else { nil }
  }

  /// What the sender does next. A push whose fate is unknown may be resent, because its identifiers stay the same.
  package var disposition: PushDisposition {
    switch self {
    case .answered(let answer): .disposition(of: answer)
    case .failed, .withdrawn: .retryLater(minimumWait: .zero)
    case .refused: .fixCredentials
    }
  }

  /// APNs' reason, `http_` and the status without one, or what the connection did. Nil for an accepted push.
  package var reason: String? {
    switch self {
    case .answered(let answer) where answer.status == 200: nil
    case .withdrawn: nil
    case .answered(let answer): answer.reason?.rawValue ?? "http_\(answer.status)"
    case .failed(.notProcessed): "apns_unreachable"
    case .failed(.unknown): "apns_answer_lost"
    case .refused(let reason): reason.rawValue
    }
  }

  /// Whether it shows that the connection works: APNs took the push, or refused it for the fault of the push or its device.
  var provesConnection: Bool {
    switch disposition {
    case .accepted, .dropToken, .suspectToken, .never, .fixRequest: return true
    case .fixCredentials, .refreshProviderToken, .reconnect: return false
    case .retryLater:
      guard case .answered(let answer) = self else { return false }
      return answer.reason == "TooManyRequests"
    }
  }
}

/// Sends pushes to APNs: the router, or a script in a test.
package protocol PushChannel: AnyObject {
  /// Sends a push once, and again only when APNs provably did not process it.
  /// - Parameters:
  ///   - deadline: the latest end of the attempt, in monotonic nanoseconds, as `Reactor.now`.
  ///   - permit: asked each time before the push goes; one that has ended withdraws it. Nil lets it go.
  func send(
    _ request: PushRequest, over route: PushRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> PushAttempt
}
