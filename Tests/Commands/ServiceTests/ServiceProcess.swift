import Foundation
import Synchronization
import TestLogs
import TestProcesses

/// The built `tacet` as a child of this process, with its output.
///
/// A small shell stands between, which kills the service when its input ends: no service outlives the tests.
final class ServiceProcess: Sendable {
  private static let script = """
    exec 3<&0
    "$@" </dev/null 3<&- & service=$!
    echo "pid $service"
    ( read word <&3; kill -KILL $service ) 2>/dev/null & watcher=$!
    wait $service
    echo "exit $?"
    kill $watcher 2>/dev/null
    """

  private let child: ChildProcess
  private let input: Int32
  private let output: OutputLines

  /// Starts `tacet` with these arguments and, besides `PATH`, only these settings.
  init(_ arguments: [String], settings: [String: String]) throws {
    RunLogs.note(settings: settings)
    let standardInput = try ClosedPipe()
    let standardOutput = try ClosedPipe()
    defer {
      close(standardInput.reading)
      close(standardOutput.writing)
    }
    child = try ChildProcess(
      ["/bin/sh", "-c", Self.script, "service", builtProgram("tacet")] + arguments, input: standardInput.reading,
      output: standardOutput.writing,
      environment: settings.merging(["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]) { mine, _ in mine })
    input = standardInput.writing
    output = OutputLines(readingFrom: standardOutput.reading, log: RunLogs.name(for: arguments.first ?? "tacet"))
  }

  deinit {
    close(input)
    _ = child.wait()
  }

  /// The first line that contains a text, already printed or yet to come.
  func line(containing text: String, within limit: Duration = ServiceScene.patience) async throws -> String {
    try await output.line(containing: text, within: limit)
  }

  /// Everything printed so far.
  var text: String { output.text }

  /// Waits for the end; the exit code, 128 and more for a signal.
  func exitCode() async throws -> Int {
    Int(try await line(containing: "exit ").dropFirst("exit ".count)) ?? -1
  }

  /// Its resident memory, in bytes.
  var residentBytes: Int {
    get async throws {
      let status = try String(contentsOfFile: "/proc/\(try await id)/status", encoding: .utf8)
      return (status.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Int($0.1) } ?? 0) * 1024
    }
  }

  func signal(_ number: Int32) async throws {
    guard let id = pid_t(try await line(containing: "pid ").dropFirst("pid ".count)) else { return }
    kill(id, number)
  }

  /// The service's process id.
  var id: pid_t {
    get async throws { pid_t(try await line(containing: "pid ").dropFirst("pid ".count)) ?? 0 }
  }
}

/// Lines of a pipe, read by a thread of their own.
private final class OutputLines: Sendable {
  private struct State {
    var lines: [String] = []
    var isEnded = false
  }

  private let state = Mutex(State())
  private let changed = DispatchSemaphore(value: 0)

  /// - Parameter log: the file of the run's logs that gets the same.
  init(readingFrom descriptor: Int32, log: String) {
    Thread.detachNewThread { [self] in
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      var rest = Data()
      while case let data = handle.availableData, !data.isEmpty {
        rest += data
        RunLogs.append(data, to: log)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: rest[..<end], as: UTF8.self)
          rest = Data(rest[(end + 1)...])
          state.withLock { $0.lines.append(line) }
          changed.signal()
        }
      }
      state.withLock { $0.isEnded = true }
      changed.signal()
    }
  }

  var text: String { state.withLock { $0.lines.joined(separator: "\n") } }

  func line(containing text: String, within limit: Duration) async throws -> String {
    let deadline = ContinuousClock.now + limit
    return try await onOwnThread { [self] in
      while true {
        let (found, isEnded) = state.withLock { state in
          (state.lines.first { $0.contains(text) }, state.isEnded)
        }
        if let found { return found }
        let left = deadline - ContinuousClock.now
        guard !isEnded, left > .zero else {
          throw TestProcessError(description: "no line with \"\(text)\" in:\n\(self.text)")
        }
        // One waiter at a time takes the signal; it is woken again within a tenth of a second in any case.
        _ = changed.wait(timeout: .now() + .milliseconds(100))
      }
    }
  }
}
