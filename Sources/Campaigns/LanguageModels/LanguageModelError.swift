public import HTTPTransfers

/// Why there is no reply.
///
/// ``description`` may be shown to a stranger: it has the code's sentence, the status, and the provider's word for the
/// failure. ``debugDescription`` adds libcurl's words, which name the host. Neither has the key, the prompt or anything
/// of the reply.
public struct LanguageModelError: Error, Sendable, Equatable {
  /// What to match on.
  public let code: Code

  /// The status of the last answer; nil when there was none.
  public let status: Int?

  /// The provider's own word for the failure, such as `overloaded_error`; nil when it gave none that is one to 64
  /// letters a to z and underscores, so that nothing else of an answer gets into records.
  public let providerType: String?

  /// What was paid for nevertheless, where the provider told: of a reply that was cut off, say.
  public let usage: LanguageModelUsage?

  /// Requests that were sent, as far as known: 0 for a call that never had its turn, 2 after a retry.
  public let attempts: Int

  /// How the transfer failed, if it was that.
  public let transfer: HTTPTransferError?

  /// A failure, as those who stand in for a client make it.
  public init(
    _ code: Code, status: Int? = nil, providerType: String? = nil, usage: LanguageModelUsage? = nil,
    attempts: Int = 0, transfer: HTTPTransferError? = nil
  ) {
    self.code = code
    self.status = status
    self.providerType = providerType
    self.usage = usage
    self.attempts = attempts
    self.transfer = transfer
  }

  /// The stable short word for records and metrics, such as `model_timed_out`: the code's raw value.
  public var reason: String { code.rawValue }

  func afterAttempts(_ attempts: Int) -> LanguageModelError {
    LanguageModelError(
      code, status: status, providerType: providerType, usage: usage, attempts: attempts, transfer: transfer)
  }
}

extension LanguageModelError: CustomStringConvertible, CustomDebugStringConvertible {
  /// `the provider limits the rate (429, rate_limit_error)`
  public var description: String {
    let details = [status.map(String.init), providerType].compactMap(\.self)
    return details.isEmpty ? code.sentence : "\(code.sentence) (\(details.joined(separator: ", ")))"
  }

  /// The description and what the transfer has to say.
  public var debugDescription: String {
    transfer.map { "\(description): \($0.debugDescription)" } ?? description
  }
}

extension LanguageModelError {
  /// What kind of failure it is; the raw value is its stable word in records.
  public enum Code: String, Sendable, CaseIterable {
    /// The deadline passed: the model may have written, and been paid for.
    case timedOut = "model_timed_out"
    /// The host has no address or takes no connection: nothing was sent.
    case unreachable = "model_unreachable"
    /// The host's certificate is not believed, or TLS failed: nothing was sent.
    case untrusted = "model_untrusted"
    /// The connection ended before the answer was complete: the model may have written, and been paid for.
    case connectionLost = "model_connection_lost"
    /// 429: too many calls or tokens, or no money left.
    case rateLimited = "model_rate_limited"
    /// 503 or 529: the provider has more to do than it can.
    case overloaded = "model_overloaded"
    /// Any other status from 500.
    case serverFailure = "model_server_failure"
    /// Any other status from 400: the key, the model's name or the request is wrong, and stays wrong.
    case refusedRequest = "model_refused_request"
    /// The answer is none of the interface's: no JSON, another shape, a redirect, or without any text.
    case unusableReply = "model_unusable_reply"
    /// The reply ended where its tokens did.
    case truncatedReply = "model_truncated_reply"
    /// The model or the provider's filter would not write this.
    case declined = "model_declined"
    /// The answer is larger than any reply of so few tokens.
    case replyTooLarge = "model_reply_too_large"
    /// As many calls as may wait do: nothing was sent.
    case busy = "model_busy"
    /// The base URL is none: nothing was sent.
    case unusableAddress = "model_unusable_address"
    /// The calling task was cancelled.
    case cancelled = "model_cancelled"
    /// The client was closed.
    case closed = "model_closed"

    /// For people.
    var sentence: String {
      switch self {
      case .timedOut: "the model did not answer in time"
      case .unreachable: "the model's host cannot be reached"
      case .untrusted: "no trusted connection to the model's host could be made"
      case .connectionLost: "the connection to the model was lost"
      case .rateLimited: "the provider limits the rate"
      case .overloaded: "the provider is overloaded"
      case .serverFailure: "the provider failed"
      case .refusedRequest: "the provider refused the request"
      case .unusableReply: "the model's answer cannot be used"
      case .truncatedReply: "the model's reply was cut off"
      case .declined: "the model declined to write"
      case .replyTooLarge: "the model's answer is too large"
      case .busy: "too many calls are waiting for the model"
      case .unusableAddress: "the model's address cannot be used"
      case .cancelled: "the call was cancelled"
      case .closed: "the client is closed"
      }
    }
  }
}

extension LanguageModelError {
  /// The failure of a transfer.
  init(_ error: HTTPTransferError) {
    self.init(Code(error.code), transfer: error)
  }
}

extension LanguageModelError.Code {
  fileprivate init(_ code: HTTPTransferError.Code) {
    self =
      switch code {
      case .invalidRequest: .unusableAddress
      case .tooManyWaiting: .busy
      case .unresolved, .unreachable: .unreachable
      case .untrusted, .handshake: .untrusted
      // What nobody has foreseen may have happened after the request was sent.
      case .connectionLost, .failed: .connectionLost
      case .invalidAnswer: .unusableReply
      case .tooLarge: .replyTooLarge
      case .timedOut: .timedOut
      case .cancelled: .cancelled
      case .closed: .closed
      }
  }
}
