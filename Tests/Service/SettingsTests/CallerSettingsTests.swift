import Settings
import Testing

@Suite("Caller settings")
struct CallerSettingsTests {
  @Test(
    "a secret or a key set lets clients in, alone or together", arguments: [(true, false), (false, true), (true, true)])
  func clients(hasSecret: Bool, hasKeySet: Bool) throws {
    let callers = try makeSettings([
      "JWT_SECRET": hasSecret ? String(repeating: "s", count: 32) : nil,
      "JWKS_URL": hasKeySet ? "http://auth:9999/.well-known/jwks.json" : nil,
    ]).callers
    #expect(callers.acceptsClients)
    #expect((callers.jwtSecret != nil) == hasSecret)
    #expect((callers.keySetURL != nil) == hasKeySet)
  }

  @Test("a signing secret has at least the 32 bytes of its hash", arguments: [(31, false), (32, true), (33, true)])
  func secretLength(bytes: Int, isUsable: Bool) {
    #expect(problems(["JWT_SECRET": String(repeating: "s", count: bytes)]).isEmpty == isUsable)
  }

  @Test(
    "a key set has a web address",
    arguments: ["keys.json", "file:///keys.json", "https://", "https:///keys", "https://a b"])
  func keySet(text: String) {
    #expect(problems(["JWKS_URL": text]).map(\.code) == [.unusable])
  }

  @Test("without settings tokens are for authenticated users, whoever issued them")
  func defaults() throws {
    let callers = try makeSettings().callers
    #expect(callers.audiences == ["authenticated"])
    #expect(callers.issuer == nil)
    #expect(callers.keySetCertificates == nil)
  }

  @Test(
    "audiences are separated by commas, and none is empty",
    arguments: [
      ("a", ["a"]), ("a,b", ["a", "b"]), (" a , b c ", ["a", "b c"]), (",", nil), ("a,", nil), ("a,,b", nil),
    ])
  func audiences(text: String, expected: [String]?) throws {
    guard let expected else {
      #expect(problems(["JWT_AUDIENCE": text]).map(\.code) == [.unusable])
      return
    }
    #expect(try makeSettings(["JWT_AUDIENCE": text]).callers.audiences == expected)
  }

  @Test("the issuer is taken as it stands")
  func issuer() throws {
    let issuer = "https://id.example/auth/v1"
    #expect(try makeSettings(["JWT_ISSUER": issuer]).callers.issuer == issuer)
  }

  @Test("the key set's authorities must be there and hold a certificate")
  func authorities() throws {
    let changes = ["JWKS_CA_FILE": "/ca.pem"]
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    #expect(try makeSettings(changes, files: ["/ca.pem": pem]).callers.keySetCertificates == pem)
    #expect(problems(changes).map(\.code) == [.unreadable])
    #expect(problems(changes, files: ["/ca.pem": "der"]).map(\.code) == [.unusable])
  }
}
