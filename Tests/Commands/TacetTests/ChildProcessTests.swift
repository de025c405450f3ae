import Foundation
import TestProcesses
import Testing

@Suite("Children of the tests")
struct ChildProcessTests {
  @Test("one that is dropped while it runs, or after its end, is killed and reaped", arguments: ["60", "0"])
  func dropped(seconds: String) async throws {
    var child: ChildProcess? = try ChildProcess(["sleep", seconds])
    let id = try #require(child?.id)
    #expect(FileManager.default.fileExists(atPath: "/proc/\(id)"))
    child = nil
    let deadline = ContinuousClock.now + .seconds(20)
    while FileManager.default.fileExists(atPath: "/proc/\(id)") {
      try #require(ContinuousClock.now < deadline)
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}
