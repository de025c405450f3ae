internal import COpenSSL
public import Reactors

/// A failed TLS operation: the kind of failure, the operation, and OpenSSL's text.
public struct TLSError: Error, Equatable, CustomStringConvertible {
  /// The kinds of failure that a caller may handle differently.
  public enum Code: Sendable {
    /// OpenSSL refuses a certificate, key, trust file or protocol list.
    case configuration
    /// The peer's certificate is untrusted, not valid now, or for another host; ``TLSError/verification`` says which.
    case certificateRefused
    /// The peers have no application protocol in common (ALPN, RFC 7301).
    case protocolNotNegotiated
    /// The time limit passed.
    case timedOut
    /// The connection ended without the peer's `close_notify`: the peer may have sent more than was read.
    case unexpectedEnd
    /// The socket failed; ``TLSError/system`` says how.
    case connectionLost
    /// The peer broke the protocol, sent an alert, or refused this side's parameters.
    case protocolFailure
  }

  /// The kind of failure.
  public let code: Code

  /// The operation, e.g. `TLS handshake with localhost`.
  public let operation: String

  /// OpenSSL's text, several entries joined by `; `. Empty when OpenSSL gave none.
  public let message: String

  /// Why OpenSSL refused the peer's certificate; nil for other failures.
  public let verification: String?

  /// The failed system call, if there was one.
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

  /// One line with every detail. Holds no secrets.
  public var description: String {
    let details = [verification, system?.description, message.isEmpty ? nil : message].compactMap { $0 }
    return "\(operation): \(code)" + (details.isEmpty ? "" : " (\(details.joined(separator: "; ")))")
  }
}

/// OpenSSL's error queue, one per thread.
///
/// OpenSSL takes an entry that an earlier call left for the next call's failure. So every call that can fail starts from an
/// empty queue, and empties it afterwards.
enum ErrorQueue {
  struct Content {
    var text = ""
    /// Reason numbers, oldest first.
    var reasons: [Int32] = []
  }

  /// The most entries that OpenSSL keeps (`ERR_NUM_ERRORS`).
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

  /// The error of a set-up call that has just failed.
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
