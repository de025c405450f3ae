internal import Glibc

/// A failed system call: its name and its `errno`.
package struct SystemError: Error, Equatable, CustomStringConvertible {
  /// The call that failed, e.g. `bind`.
  package let operation: String

  /// The value of `errno` right after the call.
  package let code: Int32

  /// Describes a failed call. Read `errno` before another call overwrites it.
  package init(operation: String, code: Int32) {
    self.operation = operation
    self.code = code
  }

  package var description: String { "\(operation): \(Self.text(of: code)) (errno \(code))" }

  private static func text(of code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let base = buffer.baseAddress else { return "unknown" }
      return strerror_r(code, base, 256) == 0 ? String(cString: base) : "unknown"
    }
  }
}
