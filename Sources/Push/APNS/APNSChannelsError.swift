internal import APNSCore
public import Delivery
internal import HTTP2

/// Why a call about channels has failed.
public struct APNSChannelsError: Error, Equatable, Sendable {
  /// How the call ended.
  public let attempt: PushAttempt
  /// Whether APNs may have done what it was asked for: there was no answer, or none that can be read.
  public let isOutcomeUnknown: Bool
  /// Whether there was a success that cannot be read.
  private let isUnreadable: Bool

  init(_ attempt: PushAttempt) {
    self.attempt = attempt
    isUnreadable = false
    if case .failed(.unknown) = attempt { isOutcomeUnknown = true } else { isOutcomeUnknown = false }
  }

  /// APNs has answered with a success that says something else than it should.
  init(unreadable response: HTTP2Response) {
    attempt = .answered(PushAnswer(response, from: .broadcasts))
    isUnreadable = true
    isOutcomeUnknown = true
  }

  /// APNs' status; nil without an answer.
  public var status: Int? { attempt.status }

  /// APNs' reason, `http_` and the status without one, or what the connection did.
  public var reason: String { isUnreadable ? "apns_answer_unreadable" : attempt.reason ?? "http_\(status ?? 0)" }

  /// What the caller does next. After an unknown outcome, ``APNSChannels/list(in:of:on:)`` comes first.
  public var disposition: PushDisposition {
    isUnreadable ? .retryLater(minimumWait: PushDisposition.serviceFaultWait) : attempt.disposition
  }

  /// Whether the answer to a deletion means that there is no such channel.
  var saysGone: Bool {
    status == 404 && reason == "BadPath" || status == 400 && reason == "ChannelNotRegistered"
  }
}

extension APNSChannelsError: CustomStringConvertible {
  /// The reason and, without an answer, the cause, for an operator.
  public var description: String {
    switch attempt {
    case .failed(.notProcessed(let cause)), .failed(.unknown(let cause)): "\(reason): \(cause)"
    default: reason
    }
  }
}
