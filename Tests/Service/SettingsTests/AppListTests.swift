import Cryptography
import Settings
import TestKeys
import Testing

@testable import PushRules

@Suite("Several apps")
struct AppListTests {
  private static let otherKey = P256PrivateKey().pem

  /// An environment without the short form; nil, a key, or what a test adds to it.
  private static let sectionsOnly: [String: String?] = [
    "TACET_CONFIG": "/f", "APNS_KEY_ID": nil, "APNS_TEAM_ID": nil, "APNS_BUNDLE_ID": nil, "APNS_PRIVATE_KEY": nil,
  ]

  private static func files(_ lines: String...) -> [String: String] {
    ["/f": lines.joined(separator: "\n"), "/a.p8": signingKeyPEM, "/b.p8": otherKey]
  }

  private static let coach = """
    [app com.example.coach]
    APNS_KEY_ID=KEYCOACH01
    APNS_TEAM_ID=TEAMCOACH1
    APNS_PRIVATE_KEY_FILE=/b.p8
    APNS_ENVIRONMENT=sandbox
    """

  @Test("without the short form the first section is the default, and every app has what its section says")
  func sections() throws {
    let apps = try makeSettings(
      Self.sectionsOnly,
      files: Self.files(
        Self.coach, "[app com.example.rider]", "APNS_KEY_ID=KEYRIDER01", "APNS_TEAM_ID=TEAMRIDER1",
        "APNS_PRIVATE_KEY_FILE=/a.p8")
    ).apns.apps
    #expect(apps.map(\.bundleIdentifier.text) == ["com.example.coach", "com.example.rider"])
    #expect(apps.map(\.key.keyIdentifier) == ["KEYCOACH01", "KEYRIDER01"])
    #expect(apps.map(\.key.teamIdentifier) == ["TEAMCOACH1", "TEAMRIDER1"])
    #expect(apps.map(\.environment) == [.sandbox, .production])
    #expect(apps.map(\.key.privateKey.exposed) == [Self.otherKey, signingKeyPEM])
  }

  @Test("a section inherits what it leaves out, and the app of the short form is the default wherever it stands")
  func inheriting() throws {
    let apns = try makeSettings(
      ["TACET_CONFIG": "/f", "APNS_ENVIRONMENT": "sandbox"],
      files: Self.files("[app com.example.rider]", "[app com.example.test]", "APNS_ENVIRONMENT=production", Self.coach)
    ).apns
    #expect(
      apns.apps.map(\.bundleIdentifier.text) == [
        "com.example.app", "com.example.rider", "com.example.test", "com.example.coach",
      ])
    #expect(apns.apps.map(\.environment) == [.sandbox, .sandbox, .production, .sandbox])
    #expect(apns.apps.map(\.key.keyIdentifier) == ["ABC123DEFG", "ABC123DEFG", "ABC123DEFG", "KEYCOACH01"])
    #expect(Set(apns.apps.map(\.key)).count == 2)
    #expect(apns.defaultApp == apns.apps[0])
  }

  @Test("what pushes say is the strictest of the short form and the section, and of the service the short form's")
  func content() throws {
    let apns = try makeSettings(
      ["TACET_CONFIG": "/f", "CONTENT": "sender"],
      files: Self.files(
        "[app com.example.rider]", "[app com.example.test]", "CONTENT=full", "[app com.example.third]", "CONTENT=none",
        "[app com.example.fourth]", "CONTENT=sealed")
    ).apns
    let sender = ContentLevel(.sender)
    #expect(apns.content == sender)
    #expect(
      apns.apps.map(\.content) == [
        sender, sender, sender, ContentLevel(.none), ContentLevel(words: .sender, isSealed: true),
      ])
    #expect(try makeSettings().apns.content == .full)
    let found = problems(["TACET_CONFIG": "/f", "CONTENT": "some"], files: Self.files("[app a]"))
    #expect(found.map { "\($0.key) \($0.code)" } == ["CONTENT unusable"])
  }

  @Test("APNS_BUNDLE_ID may name a section: that app is the default and follows its section")
  func namedSection() throws {
    let apps = try makeSettings(
      ["TACET_CONFIG": "/f", "APNS_BUNDLE_ID": "com.example.coach"],
      files: Self.files("[app com.example.rider]", Self.coach)
    ).apns.apps
    #expect(apps.map(\.bundleIdentifier.text) == ["com.example.coach", "com.example.rider"])
    #expect(apps.map(\.key.keyIdentifier) == ["KEYCOACH01", "ABC123DEFG"])
  }

  @Test("shared keys may stand in the file above the sections; a second key of the team needs no team")
  func sharedInFile() throws {
    let apps = try makeSettings(
      Self.sectionsOnly,
      files: Self.files(
        "APNS_KEY_ID=KEYSHARED1", "APNS_TEAM_ID=TEAMSHARED", "APNS_PRIVATE_KEY_FILE=/a.p8", "[app a]", "[app b]",
        "APNS_KEY_ID=KEYOTHER01", "APNS_PRIVATE_KEY_FILE=/b.p8")
    ).apns.apps
    #expect(apps.map(\.key.keyIdentifier) == ["KEYSHARED1", "KEYOTHER01"])
    #expect(apps.map(\.key.teamIdentifier) == ["TEAMSHARED", "TEAMSHARED"])
  }

  @Test("white space in a key file makes no other key")
  func sameKey() throws {
    let files = ["/a.p8": signingKeyPEM, "/b.p8": "\n" + signingKeyPEM + "\n\n"]
    let apps = try ["/a.p8", "/b.p8"].map { path in
      try makeSettings(["APNS_PRIVATE_KEY": nil, "APNS_PRIVATE_KEY_FILE": path], files: files).apns
    }
    #expect(apps[0] == apps[1])
  }

  @Test(
    "what is missing or unusable is named with its section",
    arguments: [
      ("[app a]", ["APNS_KEY_ID ([app a]) is required and not set", privateKeyMissing, teamMissing]),
      ("[app a]\nAPNS_TEAM_ID=TEAM000001", ["APNS_KEY_ID ([app a]) is required and not set", privateKeyMissing]),
      ("[app a]\nAPNS_KEY_ID=KEY0000001", [privateKeyMissing, teamMissing]),
      (
        "[app a]\nAPNS_KEY_ID=\nAPNS_PRIVATE_KEY_FILE=/a.p8",
        ["APNS_KEY_ID ([app a]) is required and not set", teamMissing]
      ),
      (
        "[app a]\nAPNS_KEY_ID=KEY0000001\nAPNS_TEAM_ID=TEAM000001\nAPNS_PRIVATE_KEY_FILE=/gone",
        ["APNS_PRIVATE_KEY_FILE ([app a]) names a file, which cannot be read: No such file or directory"]
      ),
      (
        "[app a]\nAPNS_KEY_ID=KEY0000001\nAPNS_TEAM_ID=short\nAPNS_PRIVATE_KEY_FILE=/a.p8\nAPNS_ENVIRONMENT=moon",
        [
          #"APNS_TEAM_ID ([app a]) is not usable ("short"): not an identifier from Apple; expected ten capital letters and digits"#,
          #"APNS_ENVIRONMENT ([app a]) is not usable ("moon"): not a known choice; expected production, sandbox"#,
        ]
      ),
    ])
  func unusable(file: String, expected: [String]) {
    #expect(problems(Self.sectionsOnly, files: Self.files(file)).map(\.description) == expected)
  }

  private static let privateKeyMissing =
    "APNS_PRIVATE_KEY ([app a]) or APNS_PRIVATE_KEY_FILE is required and neither is set"
  private static let teamMissing = "APNS_TEAM_ID ([app a]) is required and not set"

  @Test("without anything said of any app, the short form is what is missing")
  func nothing() {
    #expect(
      problems(Self.sectionsOnly, files: Self.files("")).map(\.key) == [
        "APNS_BUNDLE_ID", "APNS_KEY_ID", "APNS_PRIVATE_KEY", "APNS_TEAM_ID",
      ])
  }

  @Test("a fault of the short form is said once, however many inherit it; all sections are looked at")
  func faultsOnce() {
    let found = problems(
      ["TACET_CONFIG": "/f", "APNS_TEAM_ID": "short", "APNS_PRIVATE_KEY": "hunter2"],
      files: Self.files("[app a]", "[app b]", "APNS_ENVIRONMENT=moon", "[app c]", "APNS_PRIVATE_KEY=hunter2"))
    #expect(
      found.map { "\($0.key) \($0.code)" } == [
        "APNS_PRIVATE_KEY unusable", "APNS_TEAM_ID unusable", "APNS_ENVIRONMENT unusable", "APNS_KEY_ID missing",
        "APNS_PRIVATE_KEY unusable",
      ])
    #expect(!found.contains { $0.description.contains("hunter2") })
  }

  @Test("a key belongs to a team: another team needs a key of its own, and the same key has one text")
  func keysAndTeams() {
    let otherTeam = problems(["TACET_CONFIG": "/f"], files: Self.files("[app a]", "APNS_TEAM_ID=TEAM000002"))
    #expect(otherTeam.map { "\($0.key) \($0.code)" } == ["APNS_TEAM_ID conflicting"])
    let sameTeam = ["[app a]", "APNS_TEAM_ID=DEF123GHIJ"].joined(separator: "\n")
    #expect(problems(["TACET_CONFIG": "/f"], files: Self.files(sameTeam)) == [])
    let twoTexts = problems(
      ["TACET_CONFIG": "/f"], files: Self.files("[app a]", "APNS_KEY_ID=ABC123DEFG", "APNS_PRIVATE_KEY_FILE=/b.p8"))
    #expect(
      twoTexts.map(\.description) == [
        "APNS_KEY_ID ([app a]) is also that of com.example.app, with another private key"
      ])
  }

  @Test("a service has a hundred apps at most")
  func many() throws {
    let sections = (1...APNSSettings.appsMax).map { "[app a\($0)]" }.joined(separator: "\n")
    var changes: [String: String?] = ["TACET_CONFIG": "/f", "APNS_BUNDLE_ID": nil]
    #expect(try makeSettings(changes, files: Self.files(sections)).apns.apps.count == APNSSettings.appsMax)
    changes["APNS_BUNDLE_ID"] = "b"
    #expect(
      problems(changes, files: Self.files(sections)).map(\.description) == [
        "TACET_CONFIG names 101 apps; expected at most 100"
      ])
  }

  @Test("migrate refuses a broken section as well, and asks for nothing that is missing in one")
  func migrate() {
    func found(_ text: String) -> [SettingsProblem] {
      do {
        _ = try CommandSettings(
          environment: ["DATABASE_URL": "postgresql://db", "TACET_CONFIG": "/f"], needsSession: true,
          readFile: makeFiles(["/f": text]))
        return []
      } catch {
        return error.problems
      }
    }
    #expect(found("[app a]") == [])
    #expect(found("[app a b]").map(\.code) == [.malformed])
  }
}

@Suite("APNs settings")
struct APNSSettingsTests {
  @Test("without addresses both services are Apple's, and tokens are production's")
  func defaults() throws {
    let apns = try makeSettings().apns
    #expect(apns.defaultApp.key.keyIdentifier == "ABC123DEFG")
    #expect(apns.defaultApp.key.teamIdentifier == "DEF123GHIJ")
    #expect(apns.defaultApp.bundleIdentifier.text == "com.example.app")
    #expect(apns.defaultApp.environment == .production)
    #expect(apns.origin(of: .production) == ServiceOrigin(host: "api.push.apple.com"))
    #expect(apns.origin(of: .sandbox) == ServiceOrigin(host: "api.sandbox.push.apple.com"))
    #expect(apns.certificatesFile == nil)
  }

  @Test("each service can be elsewhere")
  func elsewhere() throws {
    let apns = try makeSettings([
      "APNS_ENVIRONMENT": "sandbox", "APNS_URL": "https://127.0.0.1:2197", "APNS_SANDBOX_URL": "https://127.0.0.1:2198",
    ]).apns
    #expect(apns.defaultApp.environment == .sandbox)
    #expect(apns.origin(of: .production) == ServiceOrigin(host: "127.0.0.1", port: 2197))
    #expect(apns.origin(of: .sandbox) == ServiceOrigin(host: "127.0.0.1", port: 2198))
  }
}

@Suite("APNs credentials")
struct APNSCredentialsTests {
  @Test(
    "an identifier has ten capital letters and digits",
    arguments: ["ABC123DEF", "ABC123DEFGH", "abc123defg", "ABC-23DEFG", "ÄBC123DEF"],
    ["APNS_KEY_ID", "APNS_TEAM_ID"])
  func identifiers(value: String, key: String) {
    #expect(problems([key: value]).map(\.key) == [key])
  }

  @Test("a bundle identifier has no spaces", arguments: ["com example", "com/example", "é"])
  func bundleIdentifiers(value: String) {
    #expect(problems(["APNS_BUNDLE_ID": value]).map(\.key) == ["APNS_BUNDLE_ID"])
  }

  @Test("the key may be on one line with escaped line ends")
  func oneLine() throws {
    let oneLine = signingKeyPEM.split(separator: "\n").joined(separator: #"\n"#)
    let key = try makeSettings(["APNS_PRIVATE_KEY": oneLine]).apns.defaultApp.key.privateKey.exposed
    #expect(key == signingKeyPEM.trimmingPrefix("\n"))
  }

  @Test("the key may be in a file")
  func file() throws {
    let changes = ["APNS_PRIVATE_KEY": nil, "APNS_PRIVATE_KEY_FILE": "/key.p8"]
    let settings = try makeSettings(changes, files: ["/key.p8": signingKeyPEM + "\n"])
    #expect(settings.apns.defaultApp.key.privateKey.exposed.hasPrefix(signingKeyPEM))
    #expect(problems(changes).map(\.code) == [.unreadable])
    #expect(problems(changes).map(\.key) == ["APNS_PRIVATE_KEY_FILE"])
  }

  @Test("a key pasted where its file should be named is not shown")
  func pastedKey() {
    let found = problems(["APNS_PRIVATE_KEY": nil, "APNS_PRIVATE_KEY_FILE": signingKeyPEM])
    #expect(
      found.map(\.description) == [
        "APNS_PRIVATE_KEY_FILE names a file, which cannot be read: No such file or directory"
      ])
  }

  @Test("of two keys nobody knows which is meant")
  func both() {
    let found = problems(["APNS_PRIVATE_KEY_FILE": "/key.p8"], files: ["/key.p8": signingKeyPEM])
    #expect(found.map(\.description) == ["APNS_PRIVATE_KEY and APNS_PRIVATE_KEY_FILE are both set; keep one"])
  }

  @Test(
    "what is no P-256 private key is refused before APNs is asked",
    arguments: [
      "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
      KeyText.elliptic(curve: "P-384"),
      P256PrivateKey().publicKey.pem,
    ])
  func notAKey(text: String) {
    let inline = problems(["APNS_PRIVATE_KEY": text])
    #expect(inline.map(\.key) == ["APNS_PRIVATE_KEY"])
    let inFile = problems(["APNS_PRIVATE_KEY": nil, "APNS_PRIVATE_KEY_FILE": "/key.p8"], files: ["/key.p8": text])
    #expect(inFile.map(\.key) == ["APNS_PRIVATE_KEY_FILE"])
    #expect((inline + inFile).allSatisfy { $0.code == .unusable && !$0.description.contains(text) })
  }

  @Test("the certificates file must be there and hold a certificate")
  func certificates() throws {
    let changes = ["APNS_CA_FILE": "/ca.pem"]
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    #expect(try makeSettings(changes, files: ["/ca.pem": pem]).apns.certificatesFile == "/ca.pem")
    #expect(problems(changes).map(\.code) == [.unreadable])
    #expect(problems(changes, files: ["/ca.pem": "der"]).map(\.code) == [.unusable])
  }
}
