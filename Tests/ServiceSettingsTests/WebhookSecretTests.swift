import Testing

@testable import ServiceSettings

@Suite("Webhook secrets")
struct WebhookSecretTests {
  @Test("a plain secret signs with its bytes")
  func plain() throws {
    let secrets = try WebhookSecret.list(parsing: "se,cret=")
    #expect(secrets.map(\.bearer.exposed) == ["se,cret="])
    #expect(secrets.map(\.signingKey.exposed) == [Array("se,cret=".utf8)])
  }

  @Test("a prefixed secret signs with what it decodes to, and is a bearer token as given")
  func prefixed() throws {
    let secrets = try WebhookSecret.list(parsing: "whsec_AAEC/w==")
    #expect(secrets.map(\.bearer.exposed) == ["whsec_AAEC/w=="])
    #expect(secrets.map(\.signingKey.exposed) == [[0, 1, 2, 255]])
  }

  @Test("several are told apart by white space")
  func several() throws {
    #expect(
      try WebhookSecret.list(parsing: "new  old\twhsec_AAEC").map(\.bearer.exposed) == ["new", "old", "whsec_AAEC"])
  }

  @Test(
    "what cannot be sent or decoded is refused", arguments: ["sécret", "a\u{7F}", "whsec_", "whsec_?", "ok whsec_A"])
  func unusable(text: String) {
    #expect(throws: UnusableValue.self) { try WebhookSecret.list(parsing: text) }
  }
}
