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
