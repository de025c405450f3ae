import Testing

@testable import PushRules

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
}

@Suite("Dates of answers")
struct RetryAfterTests {
  @Test(
    "only days that exist are read",
    arguments: [
      ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800), ("Wed, 29 Feb 2023 00:00:00 GMT", nil),
      ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400), ("Mon, 29 Feb 2100 00:00:00 GMT", nil),
      ("Sun, 30 Apr 1995 00:00:00 GMT", 799_200_000), ("Mon, 31 Apr 1995 00:00:00 GMT", nil),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ] as [(String, Int64?)])
  func days(_ text: String, _ seconds: Int64?) {
    #expect(RetryAfter.unixSeconds(text) == seconds)
  }

  @Test("without the answer's date a date counts from this machine's clock, or not at all")
  func missingDate() {
    let text = "Thu, 01 Jan 1970 00:01:00 GMT"
    #expect(RetryAfter.wait(text, date: nil, atMost: .seconds(90)) == nil)
    #expect(RetryAfter.wait(text, date: nil, atMost: .seconds(90), now: 20) == .seconds(40))
    #expect(RetryAfter.wait(text, date: nil, atMost: .seconds(30), now: 20) == .seconds(30))
  }

  @Test("a date that has passed asks for what the caller says", arguments: [59, 60] as [Int64])
  func passed(_ seconds: Int64) {
    let text = "Thu, 01 Jan 1970 00:00:59 GMT"
    #expect(RetryAfter.wait(text, date: nil, atMost: .seconds(90), now: seconds) == .zero)
    #expect(RetryAfter.wait(text, date: nil, atMost: .seconds(90), now: seconds, passed: nil) == nil)
  }
}
