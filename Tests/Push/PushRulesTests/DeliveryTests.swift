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

private let fault = PushDisposition.retryLater(minimumWait: .seconds(900))
private let tooMany = PushDisposition.retryLater(minimumWait: .seconds(60))

private func disposition(_ status: Int, _ reason: PushReason? = nil, timestamp: Int64? = nil) -> PushDisposition {
  .disposition(of: PushAnswer(status: status, reason: reason, timestampMilliseconds: timestamp))
}

@Suite("What an APNs answer asks for")
struct PushDispositionTests {
  @Test(
    "every documented answer has its disposition",
    arguments: [
      (400, "BadCollapseId", PushDisposition.fixRequest), (400, "BadDeviceToken", .suspectToken),
      (400, "BadExpirationDate", .fixRequest), (400, "BadMessageId", .fixRequest), (400, "BadPriority", .fixRequest),
      (400, "BadTopic", .fixRequest), (400, "DeviceTokenNotForTopic", .suspectToken),
      (400, "DuplicateHeaders", .fixRequest), (400, "IdleTimeout", .reconnect), (400, "InvalidPushType", .fixRequest),
      (400, "MissingDeviceToken", .fixRequest),
      (400, "MissingTopic", .fixRequest), (400, "PayloadEmpty", .fixRequest), (400, "TopicDisallowed", .fixCredentials),
      (403, "BadCertificate", .fixCredentials), (403, "BadCertificateEnvironment", .fixCredentials),
      (403, "ExpiredProviderToken", .refreshProviderToken), (403, "Forbidden", .fixCredentials),
      (403, "InvalidProviderToken", .fixCredentials), (403, "MissingProviderToken", .fixRequest),
      (403, "UnrelatedKeyIdInToken", .reconnect), (403, "BadEnvironmentKeyIdInToken", .fixCredentials),
      (403, "BadEnvironmentKeyInToken", .fixCredentials), (404, "BadPath", .fixRequest),
      (405, "MethodNotAllowed", .fixRequest), (413, "PayloadTooLarge", .never),
      (429, "TooManyProviderTokenUpdates", tooMany), (429, "TooManyRequests", tooMany),
      (500, "InternalServerError", fault), (503, "ServiceUnavailable", fault), (503, "Service Unavailable", fault),
      (503, "Shutdown", .reconnect),
    ] as [(Int, PushReason, PushDisposition)])
  func documented(status: Int, reason: PushReason, expected: PushDisposition) {
    #expect(disposition(status, reason) == expected)
  }

  @Test(
    "a dead token carries the date of its death, if APNs told it",
    arguments: ["ExpiredToken", "Unregistered", "Odd", nil])
  func deadToken(reason: PushReason?) {
    let dated = disposition(410, reason, timestamp: 1_789_900_000_000)
    #expect(dated == .dropToken(invalidSinceMilliseconds: 1_789_900_000_000))
    #expect(disposition(410, reason) == .dropToken(invalidSinceMilliseconds: nil))
  }

  @Test(
    "without a known reason the status decides",
    arguments: [
      (200, PushDisposition.accepted), (201, .accepted), (301, .fixCredentials), (400, .fixRequest),
      (401, .fixCredentials), (403, .fixCredentials), (404, .fixRequest), (405, .fixRequest), (407, .fixCredentials),
      (408, .reconnect), (413, .never), (418, .fixRequest), (421, .reconnect), (429, tooMany), (499, .fixRequest),
      (500, fault), (502, fault), (503, fault), (599, fault), (0, fault), (600, fault), (-1, fault),
    ])
  func byStatus(status: Int, expected: PushDisposition) {
    #expect(disposition(status) == expected)
    #expect(disposition(status, "SomeFutureReason") == expected)
    #expect(disposition(status, "") == expected)
  }

  @Test(
    "a reason with a status that is not its own does not count",
    arguments: [
      (400, "Unregistered", PushDisposition.fixRequest), (503, "ExpiredToken", fault), (200, "BadTopic", .accepted),
      (400, "Shutdown", .fixRequest), (500, "InvalidProviderToken", fault),
    ] as [(Int, PushReason, PushDisposition)])
  func mismatch(status: Int, reason: PushReason, expected: PushDisposition) {
    #expect(disposition(status, reason) == expected)
  }
}

@Suite("APNs answers")
struct PushAnswerTests {
  private func answer(_ body: String, status: Int = 400) -> PushAnswer {
    PushAnswer(status: status, identifier: nil, body: [UInt8](body.utf8))
  }

  @Test("reason and timestamp are read")
  func refused() {
    let answer = answer(#"{"reason":"Unregistered","timestamp":1789900000000}"#, status: 410)
    #expect(answer == PushAnswer(status: 410, reason: "Unregistered", timestampMilliseconds: 1_789_900_000_000))
  }

  @Test("a reason that is not known yet is kept as it came")
  func unknownReason() {
    #expect(answer(#"{"reason":"Some Future/Reason ü","more":[1]}"#).reason?.rawValue == "Some Future/Reason ü")
  }

  @Test(
    "a body that is no answer of APNs leaves the reason open",
    arguments: ["", "{}", "[]", "null", #""BadTopic""#, "<html>bad gateway</html>", #"{"reason":"#, #"{"reason":7}"#])
  func noReason(body: String) {
    #expect(answer(body).reason == nil)
  }

  @Test("a timestamp of another type does not cost the reason", arguments: [#""yesterday""#, "null", "1.5", "1e300"])
  func oddTimestamp(timestamp: String) {
    let answer = answer(#"{"timestamp":\#(timestamp),"reason":"ExpiredToken"}"#)
    #expect(answer.reason == "ExpiredToken")
    #expect(answer.timestampMilliseconds == nil)
  }

  @Test("bytes that are no UTF-8 are no reason")
  func notUTF8() {
    #expect(PushAnswer(status: 400, identifier: nil, body: [0xFF, 0xFE, 0x7B]).reason == nil)
  }

  @Test("an overlong body is not looked into")
  func overlong() {
    let padding = String(repeating: " ", count: PushAnswer.bodyBytesMax - 20)
    #expect(answer(#"{"reason":"BadPath"}"# + padding).reason == "BadPath")
    #expect(answer(#"{"reason":"BadPath"}"# + padding + " ").reason == nil)
  }
}
