import Logging
import Testing

@testable import tacet

@Suite("Log lines for programs")
struct JSONLogHandlerTests {
  private func text(_ message: Logger.Message, _ metadata: Logger.Metadata) -> String {
    var handler = JSONLogHandler()
    handler[metadataKey: "instance"] = "0123abcd"
    let event = LogEvent(
      level: .info, message: message, metadata: metadata, source: "", file: "", function: "", line: 0)
    let time = LogTimestamp(seconds: 1_801_396_800, milliseconds: 250)
    return String(decoding: handler.text(of: event, at: time), as: UTF8.self)
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

@Suite("The moment of a log line")
struct LogTimestampTests {
  @Test(
    "is written in UTC, to the millisecond",
    arguments: [
      (0, 0, "1970-01-01T00:00:00.000Z"), (951_782_399, 999, "2000-02-28T23:59:59.999Z"),
      (951_782_400, 7, "2000-02-29T00:00:00.007Z"), (1_798_761_599, 45, "2026-12-31T23:59:59.045Z"),
      (1_801_396_800, 250, "2027-01-31T12:00:00.250Z"), (4_107_542_399, 0, "2100-02-28T23:59:59.000Z"),
      (4_107_542_400, 0, "2100-03-01T00:00:00.000Z"),
    ])
  func text(_ seconds: Int, _ milliseconds: Int, _ text: String) {
    #expect(LogTimestamp(seconds: seconds, milliseconds: milliseconds).text == text)
  }

  @Test("is now")
  func now() {
    #expect(LogTimestamp.now.seconds > 1_700_000_000)
    #expect((0..<1000).contains(LogTimestamp.now.milliseconds))
  }
}
