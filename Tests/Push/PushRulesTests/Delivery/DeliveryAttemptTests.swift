import PushRules
import Testing

@Suite("What an attempt leaves in the ledger")
struct DeliveryAttemptTests {
  @Test(
    "a reason is kept word for word, up to 64 characters of printable ASCII",
    arguments: [
      ("Unregistered", "Unregistered"), ("", ""), ("a b~", "a b~"), ("a\u{0}b\u{7F}c\nd", "a?b?c?d"),
      ("später", "sp?ter"),
      (String(repeating: "x", count: 64), String(repeating: "x", count: 64)),
      (String(repeating: "x", count: 65), String(repeating: "x", count: 64)),
    ])
  func ledgerReason(_ reason: String, _ kept: String) {
    #expect(DeliveryAttempt(.never, reason: reason).ledgerReason == kept)
  }

  @Test("an accepted push has no reason")
  func accepted() {
    #expect(DeliveryAttempt(.accepted, status: 200).ledgerReason == nil)
  }
}
