import PushRules
import Settings
import Testing

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
