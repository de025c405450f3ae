internal import COpenSSL
public import Reactors

/// A TLS operation that failed: what kind of failure, during what, and what OpenSSL said.
public struct TLSError: Error, Equatable, CustomStringConvertible {
  /// What a caller may have to tell apart.
  public enum Code: Sendable {
    /// A certificate, key, trust file or protocol list that OpenSSL does not take.
    case configuration
    /// The peer's certificate is not trusted, not valid now, or for another host; ``TLSError/verification`` says which.
    case certificateRefused
    /// The two sides have no application protocol in common (ALPN, RFC 7301).
    case protocolNotNegotiated
    /// The time limit passed.
    case timedOut
    /// The connection ended without the peer's `close_notify`: what was read last may not be all that was sent.
    case unexpectedEnd
    /// The socket failed; ``TLSError/system`` says how.
    case connectionLost
    /// The peer broke the protocol, sent an alert, or refused our parameters.
    case protocolFailure
  }

  /// The kind of failure.
  public let code: Code

  /// What was being done, e.g. `TLS handshake with localhost`.
  public let operation: String

  /// OpenSSL's own text, several entries joined by `; `; empty when it had nothing to say.
  public let message: String

  /// OpenSSL's text for the verification of the peer's certificate, when that is what failed.
  public let verification: String?

  /// The system call's failure beneath, if any.
  public let system: SystemError?

  init(
    _ code: Code, operation: String, message: String = "", verification: String? = nil, system: SystemError? = nil
  ) {
    self.code = code
    self.operation = operation
    self.message = message
    self.verification = verification
    self.system = system
  }

  /// One line with everything known; holds no secrets.
  public var description: String {
    let details = [verification, system?.description, message.isEmpty ? nil : message].compactMap { $0 }
    return "\(operation): \(code)" + (details.isEmpty ? "" : " (\(details.joined(separator: "; ")))")
  }
}

/// OpenSSL's error queue: one per thread, and what an earlier call left in it is taken for the next call's failure.
/// So every call that can fail starts from an empty queue and empties it again.
enum ErrorQueue {
  struct Content {
    var text = ""
    /// The reason numbers, oldest first.
    var reasons: [Int32] = []
  }

  /// Entries OpenSSL keeps at most (`ERR_NUM_ERRORS`).
  private static let entriesMax = 16

  static func clear() {
    ERR_clear_error()
  }

  static func drain() -> Content {
    var content = Content()
    for _ in 0..<entriesMax {
      let code = ERR_get_error()
      guard code != 0 else { break }
      content.reasons.append(ERR_GET_REASON(code))
      content.text += content.text.isEmpty ? text(of: code) : "; " + text(of: code)
    }
    return content
  }

  /// The error for a set-up call that just failed.
  static func configurationError(_ operation: String) -> TLSError {
    TLSError(.configuration, operation: operation, message: drain().text)
  }

  private static func text(of code: UInt) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      ERR_error_string_n(code, base, buffer.count)
      return String(cString: base)
    }
  }
}
