import Foundation
import TestProcesses
import Testing

@Suite("tacet-simulate fcm as a process", .timeLimit(.minutes(5)))
struct FCMSimulatorProcessTests {
  /// The first line that a process prints.
  private static func line(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("says where it listens, writes a service account, and ends on SIGTERM")
  func process() async throws {
    try await onOwnThread {
      let folder = try makeTemporaryFolder("test-fcm")
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let pipe = try ClosedPipe()
      defer { close(pipe.reading) }
      // It ends by itself should the tests die.
      let child = try ChildProcess(
        [
          "timeout", "100", builtProgram("tacet-simulate"), "fcm", "--listen", "127.0.0.1:0", "--control",
          "127.0.0.1:0",
          "--account-out", folder + "/account.json", "--project", "a-project", "--ready-file", folder + "/ready",
        ], output: pipe.writing)
      close(pipe.writing)
      let line = Self.line(pipe.reading)
      let match = try #require(line.wholeMatch(of: /\{"url":"(http:[^"]+)","control":"(http:[^"]+)"\}/), "\(line)")
      let account = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: folder + "/account.json")))
      let members = try #require(account as? [String: String])
      #expect(members["token_uri"] == "\(match.1)/token")
      #expect(members["project_id"] == "a-project")
      #expect(try run(["curl", "-s", "\(match.2)/messages"]) == #"{"messages":[],"next":0}"#)
      #expect(try String(contentsOfFile: folder + "/ready", encoding: .utf8) == line + "\n")
      kill(child.id, SIGTERM)
      #expect(child.wait() == 0)
    }
  }

  @Test(
    "does not start with options that make no sense",
    arguments: [
      ["--records", "0"], ["--listen", "localhost"], ["--project", "A B"], ["--service-account", "/nowhere.json"],
    ])
  func mistakes(_ arguments: [String]) async throws {
    try await onOwnThread {
      _ = #expect(throws: TestProcessError.self) {
        try run(["timeout", "100", builtProgram("tacet-simulate"), "fcm", "--control", "127.0.0.1:0"] + arguments)
      }
    }
  }
}
