internal import Cryptography

/// A failed TLS operation: the kind of failure, the operation, and OpenSSL's text.
package struct TLSError: Error, Equatable, CustomStringConvertible {
  package enum Code: Sendable {
    /// OpenSSL refuses a certificate, key, trust file or protocol list.
    case configuration
    /// The peer's certificate is untrusted, not valid now, or for another host; ``TLSError/verification`` says which.
    case certificateRefused
    /// The peers have no application protocol in common (ALPN, RFC 7301).
    case protocolNotNegotiated
    case timedOut
    /// The connection ended without the peer's `close_notify`: the peer may have sent more than was read.
    case unexpectedEnd
    /// The socket failed; ``TLSError/system`` says how.
    case connectionLost
    /// The peer broke the protocol, sent an alert, or refused this side's parameters.
    case protocolFailure
  }

  package let code: Code

  /// The operation, e.g. `TLS handshake with localhost`.
  package let operation: String

  /// OpenSSL's text, several entries joined by `; `. Empty when OpenSSL gave none.
  package let message: String

  /// Why OpenSSL refused the peer's certificate; nil for other failures.
  package let verification: String?

  package let system: SystemError?

  init(
    _ code: Code, operation: String, message: String = "", verification: String? = nil, system: SystemError? = nil
  ) {
    self.code = code
    self.operation = operation
    self.message = message
    self.verification = verification
    self.system = system
  }

  /// One line with every detail. Holds no secrets.
  package var description: String {
    let details = [verification, system?.description, message.isEmpty ? nil : message].compactMap { $0 }
    return "\(operation): \(code)" + (details.isEmpty ? "" : " (\(details.joined(separator: "; ")))")
  }
}

extension ErrorQueue {
  /// The error of a set-up call that has just failed.
  static func configurationError(_ operation: String) -> TLSError {
    TLSError(.configuration, operation: operation, message: drain().text)
  }
}
