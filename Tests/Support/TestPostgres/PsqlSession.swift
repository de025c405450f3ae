import Foundation
import TestProcesses

/// A session of a host application: a `psql` that stays, independent of the service's own driver.
///
/// Calls block, so it belongs to a thread of its own. A statement that fails, or a server that goes away, ends it.
package final class PsqlSession {
  /// What the session prints when all before it is done; no statement's result looks like it.
  private static let mark = "-- done --"

  private let child: ChildProcess
  private let input: Int32
  private let output: Int32
  private var unread: [UInt8] = []

  /// Connects in the background; the first ``run(_:)`` tells whether it worked.
  package init(_ conninfo: String) throws {
    let standardInput = try ClosedPipe()
    let standardOutput = try ClosedPipe()
    defer {
      close(standardInput.reading)
      close(standardOutput.writing)
    }
    (input, output) = (standardInput.writing, standardOutput.reading)
    child = try ChildProcess(
      [TestPostgres.binaries + "/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", conninfo],
      input: standardInput.reading, output: standardOutput.writing)
  }

  deinit {
    close(input)
    close(output)
    kill(child.id, SIGKILL)
    _ = child.wait()
  }

  /// Runs statements, each ended by a semicolon; what they returned, unaligned and without headers.
  /// - Throws: `TestProcessError` when one fails or the connection is lost; whether it had an effect is then unknown.
  package func run(_ sql: String) throws -> String {
    send("\(sql)\n\\echo '\(Self.mark)'\n")
    var text = ""
    while let line = nextLine() {
      if line == Self.mark { return text }
      text += text.isEmpty ? line : "\n" + line
    }
    throw TestProcessError(description: "psql ended: \(text)")
  }

  /// What cannot be sent is noticed by the reading, which then finds the end.
  private func send(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes {
        Foundation.send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno != EINTR { return }
      bytes = bytes.dropFirst(max(0, count))
    }
  }

  private func nextLine() -> String? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeSubrange(...end) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(output, &buffer, buffer.count)
      guard count > 0 || (count < 0 && errno == EINTR) else { return nil }
      unread += buffer.prefix(max(0, count))
    }
  }
}
