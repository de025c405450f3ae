import ServiceSettings
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
}
