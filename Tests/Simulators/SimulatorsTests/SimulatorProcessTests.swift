import Foundation
import TestProcesses
import Testing

@Suite("tacet-simulate as a process", .timeLimit(.minutes(5)))
struct SimulatorProcessTests {
  /// Runs `tacet-simulate` in a folder, works with the first line that it prints, and ends it with SIGTERM. It ends by itself
  /// should the tests die.
  private static func with(
    _ arguments: (_ folder: String) -> [String], _ work: (_ line: String, _ folder: String) throws -> Void
  ) throws {
    let folder = try makeTemporaryFolder("test-simulate")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let pipe = try ClosedPipe()
    defer { close(pipe.reading) }
    let child = try ChildProcess(
      ["timeout", "100", builtProgram("tacet-simulate")] + arguments(folder) + ["--ready-file", folder + "/ready"],
      output: pipe.writing)
    close(pipe.writing)
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(pipe.reading, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
    let line = String(decoding: bytes, as: UTF8.self)
    try work(line, folder)
    #expect(try String(contentsOfFile: folder + "/ready", encoding: .utf8) == line + "\n")
    kill(child.id, SIGTERM)
    #expect(child.wait() == 0)
  }

  @Test("apns says where it listens, and whom clients trust")
  func apns() async throws {
    try await onOwnThread {
      try Self.with {
        ["apns", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--ca-out", $0 + "/ca.pem"]
      } _: { line, folder in
        let match = try #require(line.wholeMatch(of: /\{"production":"([^"]+)","control":"([^"]+)"\}/), "\(line)")
        #expect(try run(["curl", "-s", "\(match.2)/pushes"]) == #"{"next":0,"pushes":[]}"#)
        let answer = try run([
          "curl", "-s", "--http2", "--cacert", folder + "/ca.pem", "https://\(match.1)/3/device/00ff", "-d", "{}",
        ])
        #expect(answer == #"{"reason":"MissingProviderToken"}"#)
      }
    }
  }

  @Test("fcm says where it listens, and writes a service account")
  func fcm() async throws {
    try await onOwnThread {
      try Self.with {
        [
          "fcm", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--account-out", $0 + "/account.json",
          "--project", "a-project",
        ]
      } _: { line, folder in
        let match = try #require(line.wholeMatch(of: /\{"url":"(http:[^"]+)","control":"(http:[^"]+)"\}/), "\(line)")
        let account = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: folder + "/account.json")))
        let members = try #require(account as? [String: String])
        #expect(members["token_uri"] == "\(match.1)/token")
        #expect(members["project_id"] == "a-project")
        #expect(try run(["curl", "-s", "\(match.2)/messages"]) == #"{"messages":[],"next":0}"#)
      }
    }
  }

  @Test("model says where it listens, and answers as its options say")
  func model() async throws {
    @Sendable func ask(_ url: Substring, key: String) throws -> String {
      try run([
        "curl", "-s", url + "/v1/messages", "-w", " %{http_code}", "-H", "x-api-key: \(key)",
        "-H", "anthropic-version: 2023-06-01", "-H", "content-type: application/json", "-d",
        #"{"model":"m","max_tokens":150,"messages":[{"role":"user","content":"Hello"}]}"#,
      ])
    }
    try await onOwnThread {
      try Self.with { folder in
        try? #"{"rules":[{"steps":[{"text":"Hello, Ada"}]}]}"#
          .write(toFile: folder + "/script.json", atomically: true, encoding: .utf8)
        return [
          "model", "--listen", "127.0.0.1:0", "--script", folder + "/script.json", "--delay-ms", "1", "--key", "a-key",
        ]
      } _: { line, _ in
        let match = try #require(
          line.wholeMatch(of: /\{"address":"([0-9.:]+)","url":"(http:\/\/[0-9.:]+)"\}/), "\(line)")
        #expect(match.2 == "http://\(match.1)")
        #expect(try ask(match.2, key: "a-key").contains("Hello, Ada"))
        #expect(try ask(match.2, key: "another").hasSuffix(" 401"))
      }
    }
  }

  @Test("web-push says where it listens, and takes a subscription and a push")
  func webPush() async throws {
    try await onOwnThread {
      try Self.with {
        ["web-push", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--ca-out", $0 + "/ca.pem"]
      } _: { line, folder in
        let match = try #require(line.wholeMatch(of: /\{"push":"(https:[^"]+)","control":"([^"]+)"\}/), "\(line)")
        let curl = ["curl", "-s", "--max-time", "20", "--cacert", folder + "/ca.pem"]
        _ = try run(curl + ["\(match.2)/subscriptions", "-d", #"{"id":"sub-ok"}"#])
        let answer = try run(
          curl + ["\(match.1)/push/sub-ok", "-X", "POST", "-H", "TTL: 60", "-w", "%{http_code}"])
        #expect(answer == "201")
      }
    }
  }

  @Test(
    "does not start with options that make no sense",
    arguments: [
      ["apns", "--records", "0"], ["apns", "--certificate", "a"], ["fcm", "--records", "0"],
      ["fcm", "--listen", "localhost"], ["fcm", "--project", "A B"], ["fcm", "--service-account", "/nowhere.json"],
      ["model", "--delay-ms", "-1"], ["model", "--records", "0"], ["model", "--listen", "localhost"],
      ["model", "--script", "/nowhere.json"], ["web-push", "--certificate", "a"], ["web-push", "--face", "x"],
      ["web-push", "--records", "0"], ["nothing"],
    ])
  func mistakes(_ arguments: [String]) async throws {
    try await onOwnThread {
      _ = #expect(throws: TestProcessError.self) {
        try run(["timeout", "100", builtProgram("tacet-simulate")] + arguments)
      }
    }
  }
}
