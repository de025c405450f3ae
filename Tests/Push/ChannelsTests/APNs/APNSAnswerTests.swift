import PushRules
import Testing

@testable import Channels

private let fault = PushDisposition.retryLater(minimumWait: .seconds(900))
private let tooMany = PushDisposition.retryLater(minimumWait: .seconds(60))

private func disposition(_ status: Int, _ reason: APNSReason? = nil, timestamp: Int64? = nil) -> PushDisposition {
  APNSAnswer(status: status, reason: reason, timestampMilliseconds: timestamp).ruling.disposition
}

@Suite("What an APNs answer asks for")
struct APNSRulingTests {
  @Test(
    "every documented answer has its disposition, and concerns the push, its device, or its route",
    arguments: [
      (400, "BadCollapseId", .fixRequest, nil), (400, "BadDeviceToken", .suspectToken, nil),
      (400, "BadExpirationDate", .fixRequest, nil), (400, "BadMessageId", .fixRequest, nil),
      (400, "BadPriority", .fixRequest, nil), (400, "BadTopic", .fixRequest, nil),
      (400, "DeviceTokenNotForTopic", .suspectToken, nil), (400, "DuplicateHeaders", .fixRequest, nil),
      (400, "IdleTimeout", .reconnect, .connection), (400, "InvalidPushType", .fixRequest, nil),
      (400, "MissingDeviceToken", .fixRequest, nil), (400, "MissingTopic", .fixRequest, nil),
      (400, "PayloadEmpty", .fixRequest, nil), (400, "TopicDisallowed", .fixCredentials, .configuration),
      (403, "BadCertificate", .fixCredentials, .configuration),
      (403, "BadCertificateEnvironment", .fixCredentials, .configuration),
      (403, "ExpiredProviderToken", .refreshProviderToken, .configuration),
      (403, "Forbidden", .fixCredentials, .configuration),
      (403, "InvalidProviderToken", .fixCredentials, .configuration), (403, "MissingProviderToken", .fixRequest, nil),
      (403, "UnrelatedKeyIdInToken", .reconnect, .connection),
      (403, "BadEnvironmentKeyIdInToken", .fixCredentials, .configuration),
      (403, "BadEnvironmentKeyInToken", .fixCredentials, .configuration), (404, "BadPath", .fixRequest, nil),
      (405, "MethodNotAllowed", .fixRequest, nil), (413, "PayloadTooLarge", .never, nil),
      (429, "TooManyProviderTokenUpdates", tooMany, .throttle), (429, "TooManyRequests", tooMany, nil),
      (500, "InternalServerError", fault, .service), (503, "ServiceUnavailable", fault, .service),
      (503, "Service Unavailable", fault, .service), (503, "Shutdown", .reconnect, .connection),
      // A reason with a status that is not its own does not count.
      (400, "Unregistered", .fixRequest, nil), (503, "ExpiredToken", fault, .service),
      (200, "BadTopic", .accepted, nil),
      (400, "Shutdown", .fixRequest, nil), (500, "InvalidProviderToken", fault, .service),
      (413, "BadDeviceToken", .never, nil), (404, "BadDeviceToken", .fixRequest, nil),
    ] as [(Int, APNSReason, PushDisposition, DeliveryFault?)])
  func documented(status: Int, reason: APNSReason, expected: PushDisposition, fault: DeliveryFault?) {
    let attempt = DeliveryAttempt(.answered(APNSAnswer(status: status, reason: reason)))
    #expect(attempt.disposition == expected && attempt.fault == fault)
  }

  @Test(
    "a dead token carries the date of its death, if APNs told it",
    arguments: ["ExpiredToken", "Unregistered", "Odd", nil])
  func deadToken(reason: APNSReason?) {
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
    for reason in [nil, "SomeFutureReason", ""] as [APNSReason?] {
      let attempt = DeliveryAttempt(.answered(APNSAnswer(status: status, reason: reason)))
      #expect(attempt.disposition == expected)
      #expect((attempt.fault == .service) == (expected == fault))
    }
  }
}

@Suite("APNs answers")
struct APNSAnswerTests {
  private func answer(_ body: String, status: Int = 400) -> APNSAnswer {
    APNSAnswer(status: status, identifier: nil, body: [UInt8](body.utf8))
  }

  @Test("reason and timestamp are read")
  func refused() {
    let answer = answer(#"{"reason":"Unregistered","timestamp":1789900000000}"#, status: 410)
    #expect(answer == APNSAnswer(status: 410, reason: "Unregistered", timestampMilliseconds: 1_789_900_000_000))
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
    #expect(APNSAnswer(status: 400, identifier: nil, body: [0xFF, 0xFE, 0x7B]).reason == nil)
  }

  @Test("an overlong body is not looked into")
  func overlong() {
    let padding = String(repeating: " ", count: APNSAnswer.bodyBytesMax - 20)
    #expect(answer(#"{"reason":"BadPath"}"# + padding).reason == "BadPath")
    #expect(answer(#"{"reason":"BadPath"}"# + padding + " ").reason == nil)
  }
}
