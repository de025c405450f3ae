internal import HTTPTransfers
internal import PushRules
internal import PushStore

/// What a call of a language model has brought.
package struct LanguageModelReply: Sendable, Undisclosed {
  /// The unchanged text, never only white space, of which several blocks are joined without a separator; or why there is none.
  let text: Result<String, LanguageModelError>
  /// What was billed; nil if the provider does not report it, like some compatible servers.
  var usage: CampaignUsage?
  /// How long to wait before a retry; nil unless the provider says that one may help.
  var retryWait: Duration?
}

/// Why there is no reply. The raw value is its stable word in records and metrics.
package enum LanguageModelError: String, Error, CaseIterable {
  /// The deadline passed. The call may have been billed.
  case timedOut = "model_timed_out"
  /// The host has no address or refuses connections. Nothing was sent.
  case unreachable = "model_unreachable"
  /// The host's certificate is not trusted, or TLS failed. Nothing was sent.
  case untrusted = "model_untrusted"
  /// The connection ended before the response was complete. The call may have been billed.
  case connectionLost = "model_connection_lost"
  /// 429: too many calls or tokens, or no credit left.
  case rateLimited = "model_rate_limited"
  /// 503 or 529: the provider is overloaded.
  case overloaded = "model_overloaded"
  /// Any other status from 500.
  case serverFailure = "model_server_failure"
  /// Any other status from 400: the key, the model's name or the request is wrong. A retry does not help.
  case refusedRequest = "model_refused_request"
  /// The response does not fit the interface: not JSON, another shape, a redirect, or without text.
  case unusableReply = "model_unusable_reply"
  /// The reply reached its token limit.
  case truncatedReply = "model_truncated_reply"
  case declined = "model_declined"
  /// The response is larger than any reply of so few tokens.
  case replyTooLarge = "model_reply_too_large"
  /// Too many requests wait. Nothing was sent.
  case busy = "model_busy"
  /// The base URL is invalid. Nothing was sent.
  case unusableAddress = "model_unusable_address"
  case cancelled = "model_cancelled"
  case closed = "model_closed"
}

extension LanguageModelError {
  /// Of a response without a reply.
  init(status: Int) {
    self =
      switch status {
      case 429: .rateLimited
      case 503, 529: .overloaded
      case 500...: .serverFailure
      case 400...: .refusedRequest
      default: .unusableReply
      }
  }

  init(_ error: HTTPTransferError) {
    self =
      switch error.code {
      case .invalidRequest: .unusableAddress
      case .tooManyWaiting: .busy
      case .unresolved, .forbidden, .unreachable: .unreachable
      case .untrusted, .handshake: .untrusted
      // An unknown failure may have happened after the request was sent.
      case .connectionLost, .failed: .connectionLost
      case .invalidAnswer: .unusableReply
      case .tooLarge: .replyTooLarge
      case .timedOut: .timedOut
      case .cancelled: .cancelled
      case .closed: .closed
      }
  }

  /// Whether the model may have written something before the call failed.
  var mayHaveCost: Bool {
    [.timedOut, .connectionLost, .unusableReply, .truncatedReply, .declined, .replyTooLarge, .cancelled, .closed]
      .contains(self)
  }
}
