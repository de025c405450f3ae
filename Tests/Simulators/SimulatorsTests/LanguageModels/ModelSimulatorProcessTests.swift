import Foundation
import TestProcesses
import Testing

@Suite("tacet-simulate model as a process", .timeLimit(.minutes(2)))
struct ModelSimulatorProcessTests {
  /// Starts the command; it ends by itself should the tests die.
  private static func start(_ arguments: [String], output: Int32) throws -> ChildProcess {
    let program = builtProgram("tacet-simulate")
    return try ChildProcess(
      ["timeout", "100", program, "model", "--listen", "127.0.0.1:0"] + arguments, output: output)
  }

  /// The first line that it prints.
  private static func line(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func ask(_ url: String, key: String) throws -> String {
    try run([
      "curl", "-s", url + "/v1/messages", "-w", " %{http_code}", "-H", "x-api-key: \(key)",
      "-H", "anthropic-version: 2023-06-01", "-H", "content-type: application/json", "-d",
      #"{"model":"m","max_tokens":150,"messages":[{"role":"user","content":"Hello"}]}"#,
    ])
  }

  @Test("says where it listens, answers as its options say, and ends on SIGTERM")
  func process() async throws {
    try await onOwnThread {
      let folder = try makeTemporaryFolder("test-models")
      defer { try? FileManager.default.removeItem(atPath: folder) }
      try #"{"rules":[{"steps":[{"text":"Hello, Ada"}]}]}"#
        .write(toFile: folder + "/script.json", atomically: true, encoding: .utf8)
      let pipe = try ClosedPipe()
      defer { close(pipe.reading) }
      let child = try Self.start(
        [
          "--script", folder + "/script.json", "--delay-ms", "1", "--key", "a-key", "--ready-file", folder + "/ready",
        ], output: pipe.writing)
      close(pipe.writing)
      let line = Self.line(pipe.reading)
      let match = try #require(line.wholeMatch(of: /\{"address":"([0-9.:]+)","url":"(http:\/\/[0-9.:]+)"\}/), "\(line)")
      #expect(match.2 == "http://\(match.1)")
      #expect(try Self.ask(String(match.2), key: "a-key").contains("Hello, Ada"))
      #expect(try Self.ask(String(match.2), key: "another").hasSuffix(" 401"))
      #expect(try String(contentsOfFile: folder + "/ready", encoding: .utf8) == line + "\n")
      kill(child.id, SIGTERM)
      #expect(child.wait() == 0)
    }
  }

  @Test(
    "does not start with options that make no sense",
    arguments: [["--delay-ms", "-1"], ["--records", "0"], ["--listen", "localhost"], ["--script", "/nowhere.json"]])
  func mistakes(_ arguments: [String]) async throws {
    try await onOwnThread {
      let program = builtProgram("tacet-simulate")
      #expect(throws: TestProcessError.self) { try run(["timeout", "100", program, "model"] + arguments) }
    }
  }
}
