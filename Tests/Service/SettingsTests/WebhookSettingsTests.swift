import Settings
import Testing

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
