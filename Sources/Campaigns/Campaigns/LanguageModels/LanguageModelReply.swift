package import HTTPTransfers

struct LanguageModelReply: Undisclosed {
  /// The unchanged text; never only white space. Several blocks are joined without a separator.
  let text: String
  /// The billed tokens; nil if the provider does not report them, like some compatible servers.
  let usage: LanguageModelUsage?
  /// Requests sent: 2 after a retry.
  let attempts: Int

  /// The length of the text in bytes of UTF-8. The text itself is personal.
  var description: String { "a reply of \(text.utf8.count) bytes" }
}

/// The tokens of a call, as the provider counts them.
package struct LanguageModelUsage: Sendable, Equatable {
  let inputTokens: Int
  let outputTokens: Int

  /// Ten times the largest context, so that sums and prices of any reported counts stay in range.
  static let tokensMax = 10_000_000

  /// Counts, each clamped to 0 ... ``tokensMax``.
  init(inputTokens: Int, outputTokens: Int) {
    self.inputTokens = min(max(0, inputTokens), Self.tokensMax)
    self.outputTokens = min(max(0, outputTokens), Self.tokensMax)
  }
}

/// Why there is no reply.
///
/// ``description`` may be shown to a stranger: it has the code's sentence, the status and the provider's word.
/// ``debugDescription`` adds libcurl's message, which names the host. Neither has the key, the prompt or the reply.
package struct LanguageModelError: Error, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
  package let code: Code
  /// The status of the last response; nil without one.
  let status: Int?
  /// The provider's word for the failure, such as `overloaded_error`. Nil unless it is 1 to 64 letters a to z and
  /// underscores, so that no other text of a response gets into records.
  let providerType: String?
  /// The billed usage, if the provider reported it, for example of a truncated reply.
  let usage: LanguageModelUsage?
  /// Requests sent, as far as known: 0 for a call that never had its turn, 2 after a retry.
  var attempts: Int
  let transfer: HTTPTransferError?

  package init(
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

  init(_ error: HTTPTransferError) { self.init(Code(error.code), transfer: error) }

  /// `the provider limits the rate (429, rate_limit_error)`
  package var description: String {
    let details = [status.map(String.init), providerType].compactMap(\.self)
    return details.isEmpty ? code.sentence : "\(code.sentence) (\(details.joined(separator: ", ")))"
  }

  package var debugDescription: String {
    transfer.map { "\(description): \($0.debugDescription)" } ?? description
  }

  /// The kind of failure. The raw value is its stable word in records.
  package enum Code: String, Sendable, CaseIterable {
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
    /// Too many calls wait. Nothing was sent.
    case busy = "model_busy"
    /// The base URL is invalid. Nothing was sent.
    case unusableAddress = "model_unusable_address"
    case cancelled = "model_cancelled"
    case closed = "model_closed"

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

extension LanguageModelError.Code {
  fileprivate init(_ code: HTTPTransferError.Code) {
    self =
      switch code {
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
}
