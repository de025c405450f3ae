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
