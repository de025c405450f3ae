internal import COpenSSL
internal import Reactors

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
