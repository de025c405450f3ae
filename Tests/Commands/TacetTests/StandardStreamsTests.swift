import Foundation
import TestLogs
import TestProcesses
import Testing

@Suite("Standard output")
struct StandardStreamsTests {
  @Test("a command whose reader has ended goes on to its own end", arguments: [["doctor"], ["doctor", "--json"]])
  func closedPipe(_ arguments: [String]) async throws {
    let status = try await onOwnThread {
      let pipe = try ClosedPipe()
      close(pipe.reading)
      defer { close(pipe.writing) }
      let command = ["timeout", "--signal=KILL", "60", builtProgram("tacet")] + arguments
      return try ChildProcess(command, output: pipe.writing, environment: [:]).wait()
    }
    // Nothing is set up, so the doctor fails, as it does for a reader that stays. `timeout` exits with 128 and the signal of a
    // command that was killed.
    let whole = try await CommandRun.tacet(arguments)
    #expect(status == whole.exitCode << 8)
    #expect(whole.exitCode < 128)
  }
}
