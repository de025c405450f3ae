import Logging
import Testing

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
