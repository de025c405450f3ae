import Foundation
import Logging
import TestProcesses
import TestRepository
import Testing

@testable import TestLogs
@testable import tacet

@Suite("Log lines for people")
struct TextLogHandlerTests {
  private func text(_ message: Logger.Message, _ metadata: Logger.Metadata) -> String {
    var handler = TextLogHandler(label: "tests")
    handler[metadataKey: "instance"] = "0123abcd"
    let event = LogEvent(
      level: .info, message: message, metadata: metadata, source: "", file: "", function: "", line: 0)
    return handler.text(of: event)
  }

  @Test("have the metadata in the order of its keys, that of the process too")
  func order() {
    #expect(text("decided", ["b": "2", "a": "1"]) == "decided a=1 b=2 instance=0123abcd")
  }

  @Test("cannot be ended by a value")
  func escapes() {
    #expect(
      text("m", ["x": "a\r\nb\t\u{1B}[31m\u{85}\u{2028}é"])
        == #"m instance=0123abcd x="a\r\nb\t\u{1b}[31m\u{85}\u{2028}é""#)
  }

  @Test(
    "have values in quotes where one could pass for several",
    arguments: [
      ("plain", "plain"), ("", ""), ("a:b/c\\d", "a:b/c\\d"), ("x decision=sent", #""x decision=sent""#),
      ("a=b", #""a=b""#), (#"say "no""#, #""say \"no\"""#), (#"x\" decision=sent"#, #""x\\\" decision=sent""#),
      ("x\u{A0}y", "\"x\u{A0}y\""),
      ("x\"\u{301} decision=sent", "\"x\\\"\u{301} decision=sent\""), ("x\u{2028}", #""x\u{2028}""#),
    ])
  func quotes(_ value: String, _ written: String) {
    #expect(text("m", ["x": "\(value)"]) == "m instance=0123abcd x=\(written)")
  }

  @Test("name the process by eight hexadecimal digits, another one each time")
  func names() {
    let names = (0..<100).map { _ in ProcessName.random() }
    #expect(names.allSatisfy { $0.count == 8 && $0.allSatisfy(\.isHexDigit) })
    #expect(Set(names).count == 100)
  }
}

@Suite("Log lines for programs")
struct JSONLogHandlerTests {
  private func text(_ message: Logger.Message, _ metadata: Logger.Metadata) -> String {
    var handler = JSONLogHandler()
    handler[metadataKey: "instance"] = "0123abcd"
    let event = LogEvent(
      level: .info, message: message, metadata: metadata, source: "", file: "", function: "", line: 0)
    return String(decoding: handler.text(of: event, at: 1_801_396_800_250_000), as: UTF8.self)
  }

  @Test("are an object with the members in the order of their names")
  func order() {
    #expect(
      text("push decided", ["user_id": "1", "decision": "sent"])
        == #"{"decision":"sent","instance":"0123abcd","level":"info","message":"push decided","#
        + #""time":"2027-01-31T12:00:00.250Z","user_id":"1"}"#)
  }

  @Test("have the entry's own value of a name, but for the three of every line")
  func names() {
    let line = text("m", ["instance": "other", "level": "none", "list": ["a", "b"]])
    #expect(line.contains(#""instance":"other""#))
    #expect(line.contains(#""level":"info","list":"[\"a\", \"b\"]""#))
  }

  @Test("cannot be ended by a value")
  func escapes() {
    #expect(text("m", ["x": "\"a\\/\r\n\t\u{8}\u{C}\u{1B}é"]).contains(#""x":"\"a\\/\r\n\t\b\f\u001bé""#))
  }
}

/// `deploy/lib/checks/logs.sh`, which searches the logs of a test run.
@Suite("The search of the logs of a test run")
struct LogSearchTests {
  private static let scripts = Repository.file("deploy/lib").path

  /// What it printed, and whether it found nothing.
  private func search(_ log: String, list: String, output: String = "") async throws -> (text: String, isClean: Bool) {
    let folder = try makeTemporaryFolder("test-logs")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder + "/logs", withIntermediateDirectories: false)
    for (name, text) in [("logs/serve-1.log", log), ("logs/secrets", list), ("output", output)] {
      try text.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
    }
    let script = """
      set -euo pipefail; source \(Self.scripts)/common/say.sh; source \(Self.scripts)/checks/logs.sh
      if check_logs \(folder)/logs \(folder)/output; then echo clean; else echo dirty; fi
      """
    let text = try await onOwnThread { try run(["bash", "-c", script]) }
    return (text, text.hasSuffix("clean\n"))
  }

  private static let list = "secret\thunter2-one\ntext\tsee you at 5\nsecret\tab.*[c$\n"

  @Test("passes what has nothing of the list in it, and proves that it would have found it")
  func clean() async throws {
    let (text, isClean) = try await search("info tacet: push decided\nabxxc\n", list: Self.list)
    #expect(isClean, "\(text)")
    #expect(text.contains("planted one value of each kind: 2 of 2 found"))
    #expect(text.contains("searched: 2 files, 2 lines"))
    #expect(text.contains("2 secret, 1 text"))
  }

  @Test(
    "finds a value wherever it stands, and tells the kind and the place, never the value",
    arguments: [
      ("line\nx=hunter2-one;\n", "", "secret: ", "serve-1.log, line 2"),
      ("\0see you at 5", "", "text: ", "serve-1.log, line 1"),
      ("", "a\nb\n✘ see you at 5\n", "text: ", "output, line 3"), ("ab.*[c$", "", "secret: ", "serve-1.log, line 1"),
    ])
  func found(_ log: String, _ output: String, _ kind: String, _ place: String) async throws {
    let (text, isClean) = try await search(log, list: Self.list, output: output)
    #expect(!isClean)
    let hit = try #require(text.split(separator: "\n").first { $0.contains(place) }, "\(text)")
    #expect(hit.contains(kind))
    #expect(!text.contains("hunter2") && !text.contains("see you at 5"))
  }

  @Test("gets whole lines, also long ones of several writers at a time")
  func wholeLines() async throws {
    let folder = try makeTemporaryFolder("test-logs")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let lines = (0..<8).map { String(repeating: "\($0)", count: 9000) }
    await withTaskGroup(of: Void.self) { group in
      for line in lines {
        group.addTask { for _ in 0..<50 { RunLogs.append(Array((line + "\n").utf8), toFile: folder + "/secrets") } }
      }
    }
    let written = try String(contentsOfFile: folder + "/secrets", encoding: .utf8).split(separator: "\n")
    #expect(written.count == 400)
    #expect(Set(written.map(String.init)) == Set(lines))
  }

  @Test("refuses a list with nothing on it")
  func nothingNoted() async throws {
    #expect(try await search("log\n", list: "").isClean == false)
  }
}
