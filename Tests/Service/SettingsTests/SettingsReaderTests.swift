import Foundation
import PushRules
import Testing

@testable import Settings

@Suite("The environment and the settings file")
struct SettingsReaderTests {
  @Test("what the environment does not say comes from the file")
  func file() throws {
    let settings = try makeSettings(
      ["TACET_CONFIG": "/etc/tacet.conf", "APNS_BUNDLE_ID": nil],
      files: ["/etc/tacet.conf": "APNS_BUNDLE_ID = org.example.other\nREACTORS=2\n"])
    #expect(settings.apns.defaultApp.bundleIdentifier.text == "org.example.other")
    #expect(settings.reactors == 2)
  }

  @Test("the environment wins over the file, also with nothing")
  func precedence() throws {
    let file = ["/f": "REACTORS=2\nLOG_LEVEL=error"]
    let settings = try makeSettings(["TACET_CONFIG": "/f", "REACTORS": "4", "LOG_LEVEL": ""], files: file)
    #expect(settings.reactors == 4)
    #expect(settings.log.level == .info)
  }

  @Test("a value that the environment replaces need not be usable")
  func replaced() throws {
    let settings = try makeSettings(["TACET_CONFIG": "/f", "REACTORS": "4"], files: ["/f": "REACTORS=none"])
    #expect(settings.reactors == 4)
  }

  @Test(
    "a value in quotes that nothing takes off is refused, and not repeated",
    arguments: [
      ("WEBHOOK_SECRET", "\"a secret of twenty-four bytes\""), ("SERVICE_KEY", "'service-key-of-the-tests'"),
      ("JWT_SECRET", "“a secret of thirty-two bytes, or more of them”"), ("LOG_LEVEL", "\"info\""),
      ("REACTORS", " '2' "),
    ])
  func quoted(name: String, value: String) {
    let found = problems([name: value])
    #expect(found.contains { $0.key == name && $0.message.contains("in quotes") })
    #expect(found.allSatisfy { !$0.description.contains("secret of") && !$0.description.contains("key-of") })
  }

  @Test("the settings file takes quotes off, and keeps those inside them; curly ones are refused there too")
  func quotedInFile() throws {
    let secret = "\"a secret of twenty-four bytes\""
    let settings = try makeSettings(["TACET_CONFIG": "/f", "JWT_ISSUER": nil], files: ["/f": "JWT_ISSUER='\(secret)'"])
    #expect(settings.callers.issuer == secret)
    let found = problems(["TACET_CONFIG": "/f"], files: ["/f": "JWT_ISSUER=“me”"])
    #expect(found.map(\.key) == ["JWT_ISSUER"])
  }

  @Test("a settings file that cannot be read is named with the reason")
  func unreadable() {
    let found = problems(["TACET_CONFIG": "/gone"])
    #expect(
      found.map(\.description) == ["TACET_CONFIG names /gone, which cannot be read: No such file or directory"])
  }

  @Test("no settings file is read where none is named", arguments: [nil, ""])
  func noFile(path: String?) throws {
    _ = try makeSettings(["TACET_CONFIG": path])
  }

  @Test(
    "an unknown name that could only be ours is an error, with the nearest one",
    arguments: [
      ("APNS_KEYID", "APNS_KEY_ID"), ("APNS_SANDBOX", "APNS_SANDBOX_URL"), ("WEBHOOK_SECRETS", "WEBHOOK_SECRET"),
      ("SUPPRESSION_WINDOW", "SUPPRESSION_WINDOW_SECONDS"), ("MESSAGE_TTL", "MESSAGE_TTL_SECONDS"),
      ("PUSH_TRIGGER_ENABLE", "PUSH_TRIGGER_ENABLED"), ("TACET_CONF", "TACET_CONFIG"), ("JWKS_URI", "JWKS_URL"),
      ("JWT_AUD", "JWT_AUDIENCE"), ("JWT_ISS", "JWT_ISSUER"),
      ("TLS_CERT_FILE", "TLS_CERTIFICATE_FILE"), ("TLS_KEY", "TLS_KEY_FILE"), ("HTTP_IDLE_TIME", "HTTP_IDLE_SECONDS"),
      ("HTTP_WRITE_SECOND", "HTTP_WRITE_SECONDS"), ("LISTEN_SOCKET_MOD", "LISTEN_SOCKET_MODE"),
      ("LISTEN_ADDR", "LISTEN_ADDRESS"), ("DRAIN_TIME", "DRAIN_SECONDS"),
    ])
  func unknownOwn(name: String, nearest: String) {
    let found = problems([name: "value"])
    #expect(found.map(\.code) == [.unknown])
    #expect(found.map(\.description) == ["\(name) (environment) is not a setting; did you mean \(nearest)?"])
  }

  @Test(
    "other programs' names are none of our business",
    arguments: [
      "LOG_FILE", "JWT_EXPIRY", "DATABASE_HOST", "SERVICE", "apns_key", "HTTP_PROXY", "LISTEN_FDS", "TLS_VERSION",
    ])
  func unknownForeign(name: String) {
    #expect(problems([name: "value"]).isEmpty)
  }

  @Test(
    "what Kubernetes sets for a Service with our name is none of our business, unless there is no such Service",
    arguments: [
      "TACET_SERVICE_PORT", "TACET_SERVICE_PORT_HTTP", "TACET_PORT", "TACET_PORT_80_TCP", "TACET_PORT_80_TCP_ADDR",
    ])
  func serviceLink(name: String) {
    #expect(problems([name: "tcp://10.0.0.1:80", "TACET_SERVICE_HOST": "10.0.0.1"]).isEmpty)
    #expect(problems([name: "tcp://10.0.0.1:80"]).map(\.code) == [.unknown])
    #expect(problems([name: "tcp://10.0.0.1:80", "WEBHOOK_SERVICE_HOST": "10.0.0.1"]).map(\.code) == [.unknown])
    let longer = [name + "S": "tcp://10.0.0.1:80", "TACET_SERVICE_HOST": "10.0.0.1"]
    #expect(problems(longer).count == (name.contains("_PORT_") ? 0 : 1))
  }

  @Test("in the file every unknown name is an error, with its line")
  func unknownInFile() {
    let found = problems(["TACET_CONFIG": "/f"], files: ["/f": "# ours\n\nLOG_LEVELS=info"])
    #expect(
      found.map(\.description) == ["LOG_LEVELS (settings file, line 3) is not a setting; did you mean LOG_LEVEL?"])
  }
}

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

@Suite("The sections of the settings file")
struct AppSectionTests {
  @Test(
    "a section names an app",
    arguments: ["[app com.example.coach]", "  [ app   com.example.coach ]  ", "[app\tcom.example.coach]"])
  func headers(line: String) {
    let file = SettingsFile(text: "REACTORS=2\n\(line)\nAPNS_KEY_ID=ABC123DEFG\n# more\n\nAPNS_ENVIRONMENT=sandbox")
    #expect(file.problems == [])
    #expect(file.values == ["REACTORS": "2"])
    #expect(file.apps.map(\.bundleIdentifier.text) == ["com.example.coach"])
    #expect(file.apps.map(\.values) == [["APNS_KEY_ID": "ABC123DEFG", "APNS_ENVIRONMENT": "sandbox"]])
  }

  @Test("the next section ends it; an empty one is one too; each has its own values")
  func several() {
    let file = SettingsFile(text: "[app a]\n[app b]\nAPNS_KEY_ID=1\n[app c]\nAPNS_KEY_ID=2")
    #expect(file.problems == [])
    #expect(file.apps.map(\.bundleIdentifier.text) == ["a", "b", "c"])
    #expect(file.apps.map { $0.values["APNS_KEY_ID"] } == [nil, "1", "2"])
  }

  @Test(
    "a line in brackets that is no section is named by its number, and what follows it is nobody's",
    arguments: [
      "[", "[]", "[app]", "[app ]", "[app a b]", "[App a]", "[apps a]", "[a]", "[app a", "[app com/example]",
      "[app a] # ours", "[[app a]]",
    ])
  func malformed(line: String) {
    let file = SettingsFile(text: "REACTORS=2\n\(line)\nREACTORS=3\nAPNS_KEY_ID=1")
    #expect(
      file.problems.map(\.description) == [
        "TACET_CONFIG names a file whose line 2 is no section; expected [app BUNDLE], such as [app com.example.app]"
      ])
    #expect(file.values == ["REACTORS": "2"])
    #expect(file.apps == [])
  }

  @Test("a line cut anywhere is a section, a problem, or nothing; never a setting")
  func cut() {
    let header = "[app com.example.coach]"
    for length in 1..<header.utf8.count {
      let file = SettingsFile(text: String(header.prefix(length)))
      #expect(file.apps == [] && file.values == [:])
      #expect(file.problems.map(\.code) == [.malformed])
    }
  }

  @Test("an app has one section")
  func twice() {
    let file = SettingsFile(text: "[app a]\nAPNS_KEY_ID=1\n[app a]\nAPNS_KEY_ID=2")
    #expect(file.problems.map(\.description) == ["[app a] (settings file, line 3) is there a second time; keep one"])
    #expect(file.apps.map(\.values) == [["APNS_KEY_ID": "1"]])
  }

  @Test(
    "what does not belong into a section is named with its line",
    arguments: [
      (
        "LOG_LEVEL=info",
        "LOG_LEVEL (settings file, line 2) is no setting of an app; it belongs above the first section"
      ),
      (
        "APNS_URL=https://a",
        "APNS_URL (settings file, line 2) is no setting of an app; it belongs above the first section"
      ),
      ("APNS_BUNDLE_ID=b", "APNS_BUNDLE_ID (settings file, line 2) is what the section's name says; leave it out"),
      (
        "TACET_CONFIG=/f",
        "TACET_CONFIG (settings file, line 2) cannot be set in the file; it belongs into the environment"
      ),
      ("APNS_KEYID=1", "APNS_KEYID (settings file, line 2) is not a setting; did you mean APNS_KEY_ID?"),
      ("APNS_UR=1", "APNS_UR (settings file, line 2) is not a setting; did you mean APNS_KEY_ID?"),
    ])
  func misplaced(line: String, problem: String) {
    #expect(SettingsFile(text: "[app a]\n" + line).problems.map(\.description) == [problem])
  }

  @Test("a key set twice in a section is an error; set above it as well, it is not")
  func twiceInside() {
    let file = SettingsFile(text: "APNS_KEY_ID=0\n[app a]\nAPNS_KEY_ID=1\nAPNS_KEY_ID=2")
    #expect(
      file.problems.map(\.description) == ["APNS_KEY_ID (settings file, line 4) is set a second time; keep one"])
  }
}

@Suite("Names of settings")
struct SettingNamesTests {
  @Test("every key is nearest to itself and to itself with one letter wrong", arguments: SettingNames.texts)
  func nearest(key: String) {
    #expect(SettingNames.nearest(to: key) == key)
    #expect(SettingNames.nearest(to: key + "X") == key)
    #expect(SettingNames.nearest(to: String(key.dropFirst())) == key)
  }

  @Test("even a name like none of them gets an answer")
  func farAway() {
    #expect(!SettingNames.nearest(to: "").isEmpty)
  }
}

@Suite("Local files")
struct LocalFileTests {
  private func withFile(of bytes: Int, _ body: (String) throws -> Void) throws {
    let path = NSTemporaryDirectory() + "tacet-settings-\(UUID().uuidString)"
    try Data(repeating: 0x61, count: bytes).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  @Test("a file is read whole, up to the limit", arguments: [0, 1, 100_000, LocalFile.bytesMax])
  func whole(bytes: Int) throws {
    try withFile(of: bytes) { path in
      let read = try LocalFile.read(path: path)
      #expect(read == [UInt8](repeating: 0x61, count: bytes))
    }
  }

  @Test("a larger one is refused")
  func larger() throws {
    try withFile(of: LocalFile.bytesMax + 1) { path in
      #expect(throws: FileReadError(reason: "larger than 1048576 bytes")) { try LocalFile.read(path: path) }
    }
  }

  @Test("what is not there or no file is refused in the system's words")
  func absent() {
    #expect(throws: FileReadError(reason: "No such file or directory")) {
      try LocalFile.read(path: "/no/such/file")
    }
    #expect(throws: FileReadError(reason: "Is a directory")) { try LocalFile.read(path: "/") }
  }
}
