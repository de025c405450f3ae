internal import COpenSSL

/// OpenSSL's error queue, one per thread.
///
/// OpenSSL takes an entry that an earlier call left for the next call's failure. So every call that can fail starts from an
/// empty queue, and empties it afterwards.
package enum ErrorQueue {
  package struct Content: Sendable {
    /// OpenSSL's text, several entries joined by `; `. Empty for an empty queue. Holds no keys and no messages.
    package var text = ""
    /// Reason numbers, oldest first.
    package var reasons: [Int32] = []
  }

  /// The most entries that OpenSSL keeps (`ERR_NUM_ERRORS`).
  private static let entriesMax = 16

  /// Empties the queue of the calling thread.
  package static func clear() {
    ERR_clear_error()
  }

  /// Empties the queue of the calling thread and returns its entries.
  package static func drain() -> Content {
    var content = Content()
    for _ in 0..<entriesMax {
      let code = ERR_get_error()
      guard code != 0 else { break }
      content.reasons.append(ERR_GET_REASON(code))
      content.text += content.text.isEmpty ? text(of: code) : "; " + text(of: code)
    }
    return content
  }

  /// Runs an operation that can fail, between two empty queues.
  /// - Throws: OpenSSL's text when `body` returns nil.
  package static func checked<Result>(
    _ operation: String, _ body: () -> Result?
  ) throws(CryptographyError) -> Result {
    clear()
    guard let result = body() else { throw CryptographyError(operation, drain().text) }
    clear()
    return result
  }

  private static func text(of code: UInt) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      ERR_error_string_n(code, base, buffer.count)
      return String(cString: base)
    }
  }
}
