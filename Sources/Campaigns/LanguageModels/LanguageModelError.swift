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
