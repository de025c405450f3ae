import PushRules
import Testing

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

@Suite("APNs reasons")
struct PushReasonTests {
  @Test(
    "two reasons cast doubt on the token, no other does",
    arguments: [
      ("BadDeviceToken", true), ("DeviceTokenNotForTopic", true), ("Unregistered", false), ("TopicDisallowed", false),
      ("baddevicetoken", false),
    ])
  func suspicion(reason: String, suspects: Bool) {
    #expect((disposition(400, PushReason(rawValue: reason)) == .suspectToken) == suspects)
  }
}
