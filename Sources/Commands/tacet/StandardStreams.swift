internal import Glibc

/// A stream of the process that other programs read.
enum StandardStream: Int32 {
  case output = 1
  case error = 2

  /// Writes a text at once. What reads it may have ended, as the `head` of a pipe does: then nothing more is to be said.
  func say(_ text: String) { say(Array(text.utf8)) }

  /// Writes bytes at once, as ``say(_:)-(String)`` does.
  func say(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = write(rawValue, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if written < 0 && errno == EINTR { continue }
        guard written > 0 else { return }
        rest = rest.dropFirst(written)
      }
    }
  }
}
