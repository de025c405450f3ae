internal import Foundation

extension FileHandle {
  /// Writes a text at once. What reads it may have ended, as the `head` of a pipe does: then nothing more is to be said.
  func say(_ text: String) { say(Array(text.utf8)) }

  /// Writes bytes at once, as ``say(_:)-(String)`` does.
  func say(_ bytes: [UInt8]) { try? write(contentsOf: Data(bytes)) }
}
