import FoundationEssentials
import PushRules
import Testing

@testable import Settings

private enum Fruit: String, CaseIterable { case apple, pear }

@Suite("Numbers and switches")
struct SettingParserTests {
  @Test("whole numbers are taken up to both ends", arguments: [("1", 1), ("256", 256), ("007", 7), ("+5", 5)])
  func integers(text: String, value: Int) throws {
    #expect(try SettingParser.integer(in: 1...256)(text) == value)
  }

  @Test(
    "anything else is refused",
    arguments: ["0", "257", "-1", "1.5", "1e2", "", " 1", "1 ", "0x10", "٣", "99999999999999999999"])
  func notIntegers(text: String) {
    #expect(throws: UnusableValue.self) { try SettingParser.integer(in: 1...256)(text) }
  }

  @Test(
    "seconds may have a fraction, and take both ends",
    arguments: [
      ("0", 0), ("60", 60_000), ("0.5", 500), ("1.05", 1_050), ("1.005", 1_005), ("3600", 3_600_000),
      ("3600.000", 3_600_000),
    ])
  func seconds(text: String, milliseconds: Int) throws {
    #expect(try SettingParser.seconds(in: 0...3600)(text) == .milliseconds(milliseconds))
  }

  @Test(
    "what is no number of seconds is refused",
    arguments: ["", ".", "1.", ".5", "-1", "+1", "1.0005", "1.2.3", "1e2", "60s", "nan", "3600.001", "9999999999", "٣"])
  func notSeconds(text: String) {
    #expect(throws: UnusableValue.self) { try SettingParser.seconds(in: 0...3600)(text) }
  }

  @Test(
    "switches have many names",
    arguments: [
      ("true", true), ("YES", true), ("on", true), ("1", true), ("False", false), ("no", false), ("off", false),
      ("0", false),
    ])
  func booleans(text: String, value: Bool) throws {
    #expect(try SettingParser.boolean(text) == value)
  }

  @Test("a choice is taken in any case, and its alternatives are listed when it is none")
  func choices() throws {
    #expect(try SettingParser<Fruit>.choice("Pear") == .pear)
    let error = try #require(throws: UnusableValue.self) { try SettingParser<Fruit>.choice("plum") }
    #expect(error.expectation == "apple, pear")
  }
}

@Suite("Listen addresses")
struct ListenAddressTests {
  @Test(
    "a host, a bracketed IPv6 address or a socket path",
    arguments: [
      ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080)),
      ("0.0.0.0:0", .tcp(host: "0.0.0.0", port: 0)),
      ("localhost:65535", .tcp(host: "localhost", port: 65_535)), ("[::]:80", .tcp(host: "::", port: 80)),
      ("[::ffff:10.0.0.1]:1", .tcp(host: "::ffff:10.0.0.1", port: 1)),
      ("unix:/run/tacet.sock", .unix(path: "/run/tacet.sock")),
      ("unix:/" + String(repeating: "p", count: 106), .unix(path: "/" + String(repeating: "p", count: 106))),
    ])
  func usable(text: String, address: ListenAddress) throws {
    #expect(try ListenAddress(parsing: text) == address)
  }

  @Test(
    "anything else is refused",
    arguments: [
      "", "8080", ":8080", "localhost", "localhost:", "localhost:x", "localhost:-1", "localhost:+1", "localhost:65536",
      "localhost:80:80", "::1:80", "[::1]", "[::1]80", "[::1]:", "[::1:80", "[]:80", "[1.2.3.4]:80", "[:::]:80",
      "a b:80", "http://h:80", "unix:", "unix:run.sock", "unix:/" + String(repeating: "p", count: 107),
    ])
  func unusable(text: String) {
    #expect(throws: UnusableValue.self) { try ListenAddress(parsing: text) }
  }
}

@Suite("Host names")
struct NetworkHostTests {
  @Test(
    "names and IPv4 addresses are taken",
    arguments: ["a", "db_1", "10.0.0.1", "push-1.Example.com", String(repeating: "a", count: 253)])
  func names(text: String) {
    #expect(ListenAddress.isHostName(text))
  }

  @Test("anything else is not", arguments: ["", "a b", "a/b", "::1", "ä", "a\n", String(repeating: "a", count: 254)])
  func notNames(text: String) {
    #expect(!ListenAddress.isHostName(text))
  }
}

@Suite("Service origins")
struct ServiceOriginTests {
  @Test(
    "a host and perhaps a port",
    arguments: [
      ("https://api.push.apple.com", ServiceOrigin(host: "api.push.apple.com", port: 443)),
      ("https://127.0.0.1:2197", ServiceOrigin(host: "127.0.0.1", port: 2197)),
      ("HTTPS://h:1/", ServiceOrigin(host: "h", port: 1)),
      ("https://[::1]:2197", ServiceOrigin(host: "::1", port: 2197)),
    ])
  func usable(text: String, origin: ServiceOrigin) throws {
    #expect(try ServiceOrigin(parsing: text) == origin)
  }

  @Test(
    "anything else is refused",
    arguments: [
      "", "h", "h:443", "//h", "http://h", "https://", "https://:443", "https://h:0", "https://h:65536", "https://h:x",
      "https://h/3/device", "https://h?q", "https://h#f", "https://me@h", "https://a b", "https://h\n",
    ])
  func unusable(text: String) {
    #expect(throws: UnusableValue.self) { try ServiceOrigin(parsing: text) }
  }
}

@Suite("Webhook secrets")
struct WebhookSecretTests {
  @Test("a plain secret signs with its bytes")
  func plain() throws {
    let secrets = try SettingParser.webhookSecrets("se,cret=se,cret=se,cret=")
    #expect(secrets.map(\.bearer.exposed) == ["se,cret=se,cret=se,cret="])
    #expect(secrets.map(\.signingKey.exposed) == [Array("se,cret=se,cret=se,cret=".utf8)])
  }

  @Test("a prefixed secret signs with what it decodes to, and is a bearer token as given")
  func prefixed() throws {
    let text = "whsec_" + String(repeating: "AAEC/w==".dropLast(2) + "AA", count: 4)
    let secrets = try SettingParser.webhookSecrets(text)
    #expect(secrets.map(\.bearer.exposed) == [text])
    #expect(secrets.map(\.signingKey.exposed) == [Array(repeating: [0, 1, 2, 255, 0, 0], count: 4).flatMap { $0 }])
  }

  @Test("24 bytes are enough; those that are decoded count", arguments: [(23, false), (24, true)])
  func length(bytes: Int, isUsable: Bool) {
    let decoded = Data(repeating: 7, count: bytes).base64EncodedString()
    for text in [String(repeating: "s", count: bytes), "whsec_" + decoded] {
      #expect(((try? SettingParser.webhookSecrets(text)) != nil) == isUsable, "\(text)")
    }
  }

  @Test("several are told apart by white space")
  func several() throws {
    let (new, old) = (String(repeating: "n", count: 24), String(repeating: "o", count: 30))
    #expect(try SettingParser.webhookSecrets("\(new)  \(old)\t\(new)").map(\.bearer.exposed) == [new, old, new])
  }

  @Test(
    "what cannot be sent or decoded is refused",
    arguments: [
      "sécret of a sufficient length", "a\u{7F}", "whsec_", "whsec_?", "whsec_\(String(repeating: "?", count: 40))",
    ])
  func unusable(text: String) {
    #expect(throws: UnusableValue.self) { try SettingParser.webhookSecrets(text) }
  }
}

@Suite("Secrets")
struct SecretTests {
  @Test("no way of printing shows the value, the way of asking does")
  func redaction() {
    let secret = Secret("hunter2")
    var dumped = ""
    dump(secret, to: &dumped)
    for text in [
      "\(secret)", secret.description, String(reflecting: secret), "\(Optional(secret) as Any)", "\([secret])", dumped,
    ] {
      #expect(!text.contains("hunter2"))
    }
    #expect(secret.exposed == "hunter2")
  }
}
