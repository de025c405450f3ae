import HTTPTypes
import PushRules
import Testing

@testable import Channels

@Suite("Answers of push services")
struct WebPushAnswerTests {
  private static let now: Int64 = 784_111_777

  /// An answer and what the sender makes of it.
  struct Row: Sendable, CustomStringConvertible {
    let status: Int
    var fields: [String: String] = [:]
    var body = ""
    var hasOtherKey = false
    var mayRenewToken = false
    let disposition: PushDisposition
    var fault: DeliveryFault?
    var reason: String?
    var asked = Duration.zero

    var description: String { "\(status) \(fields) \(body) \(hasOtherKey ? "other key" : "")" }
  }

  private static func attempt(_ row: Row) -> DeliveryAttempt {
    var fields = HTTPFields()
    for (name, value) in row.fields { fields[HTTPField.Name(name)!] = value }
    let answer = WebPushAnswer(status: row.status, fields: fields, body: Array(row.body.utf8), now: now)
    return answer.attempt(.init(hasOtherKey: row.hasOtherKey, mayRenewToken: row.mayRenewToken))
  }

  private static let drop = PushDisposition.dropToken(invalidSinceMilliseconds: nil)
  private static let serviceWait = PushDisposition.retryLater(minimumWait: .seconds(900))
  private static let rateWait = PushDisposition.retryLater(minimumWait: .seconds(60))
  private static let fcmKey =
    "the VAPID credentials in the authorization header do not correspond to the credentials used to create the "
    + "subscriptions."

  private static let byStatus: [Row] = [
    Row(status: 200, disposition: .accepted), Row(status: 201, disposition: .accepted),
    Row(status: 202, disposition: .accepted), Row(status: 204, disposition: .accepted),
    Row(status: 299, disposition: .accepted),
    Row(status: 300, disposition: .never), Row(status: 301, disposition: .never),
    Row(status: 307, fields: ["location": "https://evil.example/"], disposition: .never),
    Row(status: 308, disposition: .never), Row(status: 399, disposition: .never),
    Row(status: 400, disposition: .fixRequest), Row(status: 402, disposition: .fixRequest),
    Row(status: 401, disposition: .fixCredentials, fault: .configuration),
    Row(status: 403, disposition: .fixCredentials, fault: .configuration),
    Row(status: 401, hasOtherKey: true, disposition: drop), Row(status: 403, hasOtherKey: true, disposition: drop),
    Row(status: 401, mayRenewToken: true, disposition: .refreshProviderToken),
    Row(status: 403, mayRenewToken: true, disposition: .refreshProviderToken),
    Row(status: 403, hasOtherKey: true, mayRenewToken: true, disposition: drop),
    Row(status: 404, disposition: drop), Row(status: 405, disposition: .fixRequest),
    Row(status: 406, disposition: rateWait), Row(status: 408, disposition: .reconnect, fault: .connection),
    Row(status: 409, disposition: .fixRequest), Row(status: 410, disposition: drop),
    Row(status: 413, disposition: .never), Row(status: 421, disposition: .reconnect, fault: .connection),
    Row(status: 429, disposition: rateWait), Row(status: 499, disposition: .fixRequest),
    Row(status: 500, disposition: serviceWait, fault: .service),
    Row(status: 502, disposition: serviceWait, fault: .service),
    Row(status: 503, disposition: serviceWait, fault: .service),
    Row(status: 599, disposition: serviceWait, fault: .service),
  ]

  private static func apple(
    _ status: Int, _ reason: String, hasOtherKey: Bool = false, _ disposition: PushDisposition,
    _ fault: DeliveryFault? = nil
  ) -> Row {
    Row(
      status: status, fields: ["apns-id": "A1"], body: #"{"reason":"\#(reason)"}"#, hasOtherKey: hasOtherKey,
      disposition: disposition, fault: fault, reason: reason)
  }

  private static func mozilla(
    _ status: Int, _ number: Int, _ disposition: PushDisposition, _ fault: DeliveryFault? = nil
  ) -> Row {
    Row(
      status: status, body: #"{"code":\#(status),"errno":\#(number),"error":"E","message":"M"}"#,
      disposition: disposition, fault: fault, reason: "errno_\(number)")
  }

  private static let byWord: [Row] = [
    apple(400, "BadTtl", .fixRequest), apple(400, "BadUrgency", .fixRequest),
    apple(400, "BadWebPushRequest", .fixRequest), apple(400, "BadWebPushTopic", .fixRequest),
    apple(400, "VapidPkHashMismatch", .fixCredentials, .configuration),
    apple(403, "VapidPkHashMismatch", .fixCredentials, .configuration),
    apple(400, "VapidPkHashMismatch", hasOtherKey: true, drop),
    apple(403, "VapidPkHashMismatch", hasOtherKey: true, drop),
    apple(400, "IdleTimeout", .reconnect, .connection),
    apple(400, "BadAuthorizationHeader", .fixCredentials, .configuration),
    apple(403, "BadAuthorizationHeader", .fixCredentials, .configuration),
    apple(403, "BadJwtToken", .fixCredentials, .configuration),
    apple(400, "BadVapidPublicKey", .fixCredentials, .configuration),
    apple(404, "BadPath", drop), apple(405, "MethodNotAllowed", .fixRequest),
    apple(410, "Unregistered", drop), apple(413, "PayloadTooLarge", .never), apple(429, "TooManyRequests", rateWait),
    apple(500, "InternalServerError", serviceWait, .service), apple(503, "ServiceUnavailable", serviceWait, .service),
    apple(503, "Shutdown", .reconnect, .connection),
    mozilla(400, 111, .fixRequest), mozilla(400, 110, .fixRequest),
    mozilla(401, 109, .fixCredentials, .configuration), mozilla(404, 102, drop), mozilla(410, 103, drop),
    mozilla(410, 105, drop), mozilla(410, 106, drop), mozilla(413, 104, .never), mozilla(429, 201, rateWait),
    mozilla(500, 999, serviceWait, .service), mozilla(503, 202, serviceWait, .service),
    Row(status: 410, body: "push subscription has unsubscribed or expired.", disposition: drop),
    Row(status: 403, body: fcmKey, disposition: .fixCredentials, fault: .configuration),
    Row(status: 403, body: fcmKey, mayRenewToken: true, disposition: .fixCredentials, fault: .configuration),
    Row(status: 403, body: fcmKey, hasOtherKey: true, disposition: drop),
    Row(status: 201, fields: ["x-wns-status": "received"], disposition: .accepted),
    Row(status: 201, fields: ["x-wns-status": "dropped"], disposition: .never, reason: "dropped"),
    Row(status: 200, fields: ["x-wns-status": "channelthrottled"], disposition: rateWait, reason: "channelthrottled"),
    Row(
      status: 200, fields: ["x-wns-status": "appthrottled"], disposition: rateWait, fault: .throttle,
      reason: "appthrottled"),
    Row(
      status: 406, fields: ["x-wns-status": "channelthrottled", "x-wns-continue-after": "45"],
      disposition: .retryLater(minimumWait: .seconds(45)), reason: "channelthrottled", asked: .seconds(45)),
    Row(
      status: 406, fields: ["x-wns-status": "AppThrottled"], disposition: rateWait, fault: .throttle,
      reason: "AppThrottled"),
    Row(
      status: 400,
      fields: ["x-wns-status": "dropped", "x-wns-error-description": "Ttl value conflicts with X-WNS-Cache-Policy"],
      disposition: .fixRequest, reason: "Ttl value conflicts with X-WNS-Cache-Policy"),
    Row(
      status: 429, fields: ["retry-after": "30"], disposition: .retryLater(minimumWait: .seconds(30)),
      asked: .seconds(30)),
    Row(
      status: 503, fields: ["retry-after": "0"], disposition: .retryLater(minimumWait: .zero), fault: .service),
  ]

  @Test("a status decides alone where the service has no word", arguments: byStatus)
  func statuses(_ row: Row) {
    let attempt = Self.attempt(row)
    #expect(attempt.disposition == row.disposition)
    #expect(attempt.fault == row.fault)
    #expect(attempt.status == row.status)
    #expect(attempt.reason == (row.disposition == .accepted ? nil : "http_\(row.status)"))
  }

  @Test("each service's words decide where it has them", arguments: byWord)
  func words(_ row: Row) {
    let attempt = Self.attempt(row)
    #expect(attempt.disposition == row.disposition)
    #expect(attempt.fault == row.fault)
    #expect(attempt.reason == (row.disposition == .accepted ? nil : row.reason ?? "http_\(row.status)"))
    #expect(attempt.askedWait == row.asked)
    #expect(attempt.identifier == row.fields["apns-id"])
  }

  @Test("an answer cut anywhere is still judged by its status")
  func cuts() {
    for whole in [#"{"reason":"BadTtl"}"#, #"{"code":400,"errno":111,"error":"Bad","message":"TTL"}"#] {
      for count in 0..<whole.utf8.count {
        let attempt = Self.attempt(Row(status: 400, body: String(whole.prefix(count)), disposition: .fixRequest))
        #expect(attempt.disposition == .fixRequest)
        #expect(attempt.reason == "http_400", "after \(count)")
      }
    }
  }

  @Test(
    "hostile content changes nothing but the reason, which has a bound",
    arguments: [
      "[]", "null", "17", #"{"reason":7}"#, #"{"reason":null,"errno":"x"}"#, #"{"errno":1e99}"#, #"{"reason":""}"#,
      String(repeating: "[", count: 4096), String(repeating: "{\"a\":", count: 800),
      #"{"reason":""# + String(repeating: "x", count: 5000) + #""}"#,
    ])
  func hostile(_ body: String) {
    let attempt = Self.attempt(Row(status: 410, body: body, disposition: Self.drop))
    #expect(attempt.disposition == Self.drop)
    #expect(attempt.reason == "http_410")
  }

  @Test("a long reason is cut at 128 characters")
  func longReason() {
    let word = String(repeating: "x", count: 1000)
    let attempt = Self.attempt(Row(status: 400, body: #"{"reason":"\#(word)"}"#, disposition: .fixRequest))
    #expect(attempt.reason == String(repeating: "x", count: 128))
  }
}

@Suite("Waits that answers ask for")
struct RetryWaitTests {
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  private static func wait(_ text: String, date: String?, now: Int64) -> Duration? {
    RetryAfter.wait(text, date: date, atMost: .seconds(3600), now: now)
  }

  @Test(
    "seconds and dates are read, and bounded by an hour",
    arguments: [
      ("0", Duration.zero), ("1", .seconds(1)), ("3600", .seconds(3600)), ("3601", .seconds(3600)),
      ("99999999999999999999999", .seconds(3600)), ("Sun, 06 Nov 1994 08:49:38 GMT", .seconds(1)),
      ("Sun, 06 Nov 1994 09:49:37 GMT", .seconds(3600)), ("Sun, 06 Nov 1994 09:49:38 GMT", .seconds(3600)),
      ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("Sat, 05 Nov 1994 08:49:37 GMT", .zero),
      ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(3600)), ("Thu, 01 Jan 1970 00:00:00 GMT", .zero),
    ])
  func accepted(_ text: String, _ wait: Duration) {
    #expect(Self.wait(text, date: Self.date, now: 0) == wait)
    #expect(Self.wait(text, date: nil, now: 784_111_777) == wait)
    #expect(Self.wait(text, date: "yesterday", now: 784_111_777) == wait)
    // FCM's clients are told nothing by a date that has passed.
    let isPast = wait == .zero && text != "0"
    #expect(RetryAfter.wait([.retryAfter: text, .date: Self.date]) == (isPast ? nil : wait))
  }

  @Test(
    "other texts ask for nothing",
    arguments: [
      "", " ", "-1", "+1", "1.5", "1 s", "soon", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
      "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
      "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1969 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37  GMT", "Sun, -6 Nov 1994 08:49:37 GMT", "١", "Sun, 06 Nov 1994 08:49 GMT",
      "Sun, 06 Nov 1994 08:49:37:00 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:xx GMT",
      "Sun, 06 Nov 9223372036854775807 08:49:37 GMT", "Sun, 9223372036854775807 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov -9223372036854775808 08:49:37 GMT", "Sun, 06 Nov 1994 9223372036854775807:49:37 GMT",
      "Sun, 06 Nov 1994 08:-9223372036854775808:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT",
    ])
  func refused(_ text: String) {
    #expect(Self.wait(text, date: Self.date, now: 0) == nil)
    #expect(RetryAfter.unixSeconds(text) == nil)
  }

  @Test("a date cut anywhere asks for nothing")
  func cuts() {
    for count in 0..<Self.date.count { #expect(RetryAfter.unixSeconds(String(Self.date.prefix(count))) == nil) }
  }

  @Test(
    "dates are counted through leap years",
    arguments: [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
      ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800), ("Sun, 28 Feb 2100 23:59:59 GMT", 4_107_542_399),
      ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
      ("Thu, 31 Dec 2026 23:59:60 GMT", 1_798_761_600),
    ] as [(String, Int64)])
  func days(_ text: String, _ seconds: Int64) {
    #expect(RetryAfter.unixSeconds(text) == seconds)
  }
}
