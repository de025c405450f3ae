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

@Suite("The stand-in as a program", .timeLimit(.minutes(1)))
struct WebPushSimulatorProcessTests {
  private struct Addresses: Decodable {
    let push, control: String
  }

  @Test("it says where it listens, takes a subscription and a push, and stops on SIGTERM")
  func run() async throws {
    let folder = try makeTemporaryFolder("web-push")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let pipe = try ClosedPipe()
    let program = try ChildProcess(
      [
        builtProgram("tacet-simulate"), "web-push", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--ca-out",
        folder + "/ca.pem",
      ], output: pipe.writing)
    close(pipe.writing)
    let reading = FileHandle(fileDescriptor: pipe.reading, closeOnDealloc: true)
    let line = try await onOwnThread { reading.availableData }
    let addresses = try JSONDecoder().decode(Addresses.self, from: line)
    let output = try await onOwnThread { [folder] in
      let curl = ["curl", "-s", "--max-time", "20", "--cacert", folder + "/ca.pem"]
      _ = try TestProcesses.run(curl + ["\(addresses.control)/subscriptions", "-d", #"{"id":"sub-ok"}"#])
      return try TestProcesses.run(
        curl + ["\(addresses.push)/push/sub-ok", "-X", "POST", "-H", "TTL: 60", "-w", "%{http_code}"])
    }
    #expect(output == "201")
    kill(program.id, SIGTERM)
    #expect(try await onOwnThread { program.wait() } == 0)
  }

  @Test(
    "options that do not fit together are refused",
    arguments: [["--certificate", "a"], ["--face", "x"], ["--records", "0"]])
  func refused(_ options: [String]) async throws {
    let program = try ChildProcess([builtProgram("tacet-simulate"), "web-push"] + options)
    #expect(try await onOwnThread { program.wait() } != 0)
  }
}
