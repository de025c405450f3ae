internal import HTTPTransfers
package import PushRules
internal import Reactors

/// What a push shows FCM: a bearer token of an hour.
package struct AccessToken: Equatable, Sendable, CustomStringConvertible {
  /// The header field's value: `Bearer` and the token. A secret.
  let authorization: String

  /// When a new one is asked for. Monotonic nanoseconds.
  let renewedAt: UInt64

  /// When it is no longer used. Monotonic nanoseconds.
  let endsAt: UInt64

  /// Google says to renew a token 5 minutes before its end.
  private static let renewalLead = Duration.seconds(300)

  /// - Parameters:
  ///   - lifetime: from `now`. A short one is renewed at its half.
  init(_ text: String, lifetime: Duration, now: UInt64) {
    authorization = "Bearer \(text)"
    endsAt = now &+ lifetime.clampedNanoseconds
    renewedAt = endsAt &- min(Self.renewalLead, lifetime / 2).clampedNanoseconds
  }

  /// Without the token.
  package var description: String { "access token" }
}

/// Why there is no access token.
///
/// ``description`` is for an operator. It holds text of the token endpoint and no secret.
package struct AccessTokenError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What to do about it.
  package enum Code: Sendable {
    /// The account, its key, a role, a scope or this machine's clock is wrong. An operator must change something.
    case credentials
    /// The endpoint or the connection fails at the moment. The pushes wait.
    case unavailable
  }

  package let code: Code

  /// The endpoint's word, such as `invalid_grant`, or what the connection did.
  package let reason: String

  /// The endpoint's explanation; empty for none. Untrusted text of at most 200 bytes.
  package let message: String

  package let fault: DeliveryFault

  /// The wait that the endpoint asks for; zero for none.
  package internal(set) var askedWait = Duration.zero

  /// The wait before the next exchange.
  package internal(set) var wait = Duration.zero

  private static let messageBytesMax = 200

  init(_ code: Code, _ reason: String, _ message: String = "", fault: DeliveryFault) {
    self.code = code
    self.reason = reason
    self.message = String(decoding: message.utf8.prefix(Self.messageBytesMax), as: UTF8.self)
    self.fault = fault
  }

  init(_ error: HTTPTransferError) {
    self.init(.unavailable, error.code.word, fault: .connection)
  }

  package var description: String { message.isEmpty ? reason : "\(reason): \(message)" }

  /// The end of a push that needed the token. Nothing was sent.
  var attempt: DeliveryAttempt {
    guard code == .unavailable else { return DeliveryAttempt(.fixCredentials, reason: reason, fault: .configuration) }
    var attempt = DeliveryAttempt(.retryLater(minimumWait: wait), reason: reason, fault: fault)
    attempt.askedWait = askedWait
    return attempt
  }
}

extension HTTPTransferError.Code {
  /// The reason of an attempt without an answer.
  var word: String {
    switch self {
    case .invalidRequest: "invalid_request_url"
    case .tooManyWaiting: "too_many_waiting"
    case .unresolved: "unresolved"
    case .forbidden: "forbidden_address"
    case .unreachable: "unreachable"
    case .untrusted: "untrusted_certificate"
    case .handshake: "handshake_failed"
    case .connectionLost: "connection_lost"
    case .invalidAnswer: "invalid_answer"
    case .tooLarge: "answer_too_large"
    case .timedOut: "timed_out"
    case .cancelled: "cancelled"
    case .closed: "closed"
    case .failed: "transfer_failed"
    }
  }
}
