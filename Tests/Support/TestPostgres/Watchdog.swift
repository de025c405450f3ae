import Foundation
import TestProcesses

/// The shell process between this process and the server.
final class Watchdog: Sendable {
  /// `keep` on its input means: the server is stopped from outside, leave the folder. An end of input without it means
  /// that this process is gone or done with the cluster.
  private static let script = """
    folder=$1; stop=$2; shift 2
    "$@" >>"$folder/log" 2>&1 </dev/null &
    server=$!
    read word
    if [ "$word" != keep ]; then kill -$stop $server; fi
    wait $server
    if [ "$word" != keep ]; then rm -rf "$folder"; fi
    """

  private let child: ChildProcess
  /// The only writing end: it closes with this object, or with this process.
  private let input: Int32

  /// - Parameter signal: ends the server at once. A shell's background process ignores QUIT unless it handles it.
  init(_ command: [String], folder: String, stoppedBy signal: String = "QUIT") throws {
    let pipe = try ClosedPipe()
    defer { close(pipe.reading) }
    do {
      let shell = ["/bin/sh", "-c", Self.script, "watchdog", folder, signal]
      child = try ChildProcess(shell + command, input: pipe.reading)
    } catch {
      close(pipe.writing)
      throw error
    }
    input = pipe.writing
  }

  /// The shell ends by itself, which is waited for on a thread of its own.
  deinit {
    close(input)
    let child = child
    Thread.detachNewThread { _ = child.wait() }
  }

  /// Lets the shell go and waits until the server is gone too. The next call must be the release of this object.
  func leaveFolder() {
    let word = Array("keep\n".utf8)
    _ = write(input, word, word.count)
    _ = child.wait()
  }
}
