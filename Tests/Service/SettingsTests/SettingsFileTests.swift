import Testing

@testable import Settings

@Suite("The settings file")
struct SettingsFileTests {
  @Test(
    "one setting a line, in whatever dress",
    arguments: [
      ("LOG_LEVEL=info", "info"), ("  LOG_LEVEL = info  ", "info"), ("LOG_LEVEL=\"info\"", "info"),
      ("LOG_LEVEL='info'", "info"), ("LOG_LEVEL=\" info \"", " info "), ("LOG_LEVEL=", ""), ("LOG_LEVEL=\"\"", ""),
      ("LOG_LEVEL=a=b", "a=b"), ("LOG_LEVEL=a # b", "a # b"), ("LOG_LEVEL=\"it's\"", "it's"),
      ("LOG_LEVEL=it's", "it's"), ("LOG_LEVEL=$HOME", "$HOME"), ("\tLOG_LEVEL=info\r", "info"),
    ])
  func values(line: String, value: String) {
    let file = SettingsFile(text: line)
    #expect(file.values == ["LOG_LEVEL": value])
    #expect(file.problems.isEmpty)
  }

  @Test("comments and blank lines say nothing, whatever ends a line", arguments: ["\n", "\r\n", "\r"])
  func comments(lineEnd: String) {
    let lines = ["# LOG_LEVEL=error", "", "   ", "  # more", "LOG_LEVEL=info", "REACTORS=2", ""]
    let file = SettingsFile(text: lines.joined(separator: lineEnd))
    #expect(file.values == ["LOG_LEVEL": "info", "REACTORS": "2"])
    #expect(file.problems.isEmpty)
  }

  @Test(
    "a line that is no setting is named by its number and not repeated",
    arguments: [
      "LOG_LEVEL", "=info", "LOG LEVEL=info", "LOG-LEVEL=info", "LOG_LEVEL=\"info", "LOG_LEVEL='in'fo'",
      "LOG_LEVEL=\"info\" x", "LOG_LEVEL=\"", "MIGTAgEAMBMGByqGSM49/AgEG+CCqGSM49AwEHBHkwdwIBAQQg==",
      "MIGTAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIBAQQgabcdefghijklmnopqrstuvwxyz==",
    ])
  func malformed(line: String) {
    let file = SettingsFile(text: "REACTORS=2\n" + line)
    #expect(
      file.problems.map(\.description) == [
        "TACET_CONFIG names a file whose line 2 is no setting; expected KEY=value, quotes closed, or a # comment"
      ])
  }

  @Test("a key set twice is an error, because a reader sees only one of them")
  func twice() {
    let file = SettingsFile(text: "REACTORS=2\nREACTORS=3")
    #expect(file.problems.map(\.key) == ["REACTORS"])
    #expect(file.problems.map(\.code) == [.conflicting])
  }

  @Test("the file cannot name another file")
  func nested() {
    #expect(SettingsFile(text: "TACET_CONFIG=/other").problems.map(\.code) == [.conflicting])
  }
}
