import FoundationEssentials
import Testing

@testable import Settings

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

@Suite("Webhook settings")
struct WebhookSettingsTests {
  @Test("the wait takes both ends", arguments: [("0", 0), ("1000", 1_000), ("60000", 60_000)])
  func wait(text: String, milliseconds: Int) throws {
    #expect(try makeSettings(["WEBHOOK_WAIT_MILLISECONDS": text]).webhooks.wait == .milliseconds(milliseconds))
  }

  @Test("all secrets of the list are valid")
  func secrets() throws {
    #expect(
      try makeSettings(["WEBHOOK_SECRET": "\(String(repeating: "n", count: 24)) \(String(repeating: "o", count: 24))"])
        .webhooks.secrets.count == 2)
  }
}
