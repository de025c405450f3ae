import Cryptography
import Settings
import TestKeys
import Testing

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
