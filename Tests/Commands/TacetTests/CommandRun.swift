import Foundation
import TestLogs
import TestProcesses

/// One run of the built `tacet`, from its start to its end.
struct CommandRun {
  /// The exit code; negative for the signal that killed it.
  let exitCode: Int32
  /// Standard output and standard error as they came.
  let output: String

  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// Runs `tacet` with these arguments, and with these settings as its whole environment.
  static func tacet(_ arguments: [String], _ settings: [String: String] = [:]) async throws -> CommandRun {
    RunLogs.note(settings: settings)
    return try await onOwnThread {
      let pipe = try ClosedPipe()
      let reading = FileHandle(fileDescriptor: pipe.reading, closeOnDealloc: true)
      let spawned = Result {
        try ChildProcess(
          // A run that does not end by itself is a failure, not a test that hangs.
          ["timeout", "--signal=KILL", "60", builtProgram("tacet")] + arguments, output: pipe.writing,
          environment: settings.merging(["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]) { mine, _ in mine }
        )
      }
      close(pipe.writing)
      let child = try spawned.get()
      let output = try reading.readToEnd() ?? Data()
      RunLogs.append(output, to: RunLogs.name(for: arguments.first ?? "tacet"))
      let status = child.wait()
      // The layout of a wait status: the signal in the low seven bits, the exit code above them.
      let exitCode = status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
      return CommandRun(exitCode: exitCode, output: String(decoding: output, as: UTF8.self))
    }
  }
}
