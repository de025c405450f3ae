import Cryptography
import Foundation
import Testing

@testable import Simulators

@Suite("The judge of messages")
struct MessageJudgeTests {
  private static let token = "eKq7xAndroid0:APA91bOk"

  private static func read(_ message: String) -> Result<MessageInquiry, GoogleError> {
    readRaw(#"{"message":{"token":"\#(token)",\#(message)}}"#)
  }

  private static func readRaw(_ body: String) -> Result<MessageInquiry, GoogleError> {
    Result { () throws(GoogleError) in try MessageInquiry(Array(body.utf8)) }
  }

  private static func field(of error: GoogleError) -> String? {
    error.details.lazy.compactMap { if case .badRequest(let field, _) = $0 { field } else { nil } }.first
  }

  @Test(
    "what the discovery document allows is accepted, in both spellings",
    arguments: [
      #""android":{}"#, #""android":null"#, #""data":{"a":"b"}"#, #""data":null"#, #""name":"x""#,
      #""fcm_options":{"analytics_label":"a"}"#, #""fcmOptions":{"analyticsLabel":"a"}"#,
      #""notification":{"title":"a","body":"b","image":"c"}"#,
      #""android":{"collapse_key":"a","priority":"normal","ttl":"1s","restricted_package_name":"a","data":{}}"#,
      #""android":{"collapseKey":"a","restrictedPackageName":"a","directBootOk":true}"#,
      #""android":{"direct_boot_ok":true,"bandwidth_constrained_ok":false,"restricted_satellite_ok":true}"#,
      #""android":{"notification":{"notification_count":3,"sticky":true,"body_loc_args":["a"],"sound":"default"}}"#,
      #""android":{"notification":{"notificationCount":"3","event_time":"2026-11-26T00:00:00.5Z"}}"#,
      #""android":{"notification":{"notification_priority":"priority_max","visibility":"SECRET","proxy":"DENY"}}"#,
      #""android":{"notification":{"vibrate_timings":["1s","0.5s"],"bypass_proxy_notification":true}}"#,
      #""android":{"notification":{"light_settings":{"color":{"red":1,"alpha":0.5},"light_on_duration":"1s"}}}"#,
      #""android_v2":{"remote_notification":{"notification":{"id":7,"title":"a"},"mutable_content":true}}"#,
      #""android_v2":{"background_sync":{}}"#, #""apns":{"headers":{"a":"b"},"payload":{"aps":{"x":[1]}}}"#,
      #""webpush":{"notification":{"any":[1]},"fcm_options":{"link":"a"}}"#,
    ])
  func accepted(_ message: String) throws {
    #expect(throws: Never.self) { try Self.read(message).get() }
  }

  @Test(
    "what it does not allow is refused, with its place",
    arguments: [
      (#""tokn":"x""#, "message", #"Unknown name "tokn" at 'message': Cannot find field."#),
      (#""android":{"colapse_key":"x"}"#, "message.android", "Unknown name"),
      (#""android":{"title":"x"}"#, "message.android", "Unknown name"),
      (#""notification":{"tag":"x"}"#, "message.notification", "Unknown name"),
      (#""android":{"notification":{"id":7}}"#, "message.android.notification", "Unknown name"),
      (#""android_v2":{"priority":"HIGH"}"#, "message.android_v2", "Unknown name"),
      (#""data":{"n":12}"#, "message.data[0].value", "(TYPE_STRING), 12"),
      (#""data":{"a":"1","b":true}"#, "message.data[1].value", "(TYPE_STRING), true"),
      (#""data":{"a":null}"#, "message.data[0].value", "null"), (#""data":[]"#, "message.data", "a list"),
      (#""notification":{"title":7}"#, "message.notification.title", "7"),
      (#""notification":"x""#, "message.notification", "google.firebase.fcm.v1.Notification"),
      (#""android":{"ttl":"3600"}"#, "message.android.ttl", "google.protobuf.Duration"),
      (#""android":{"ttl":3600}"#, "message.android.ttl", "google.protobuf.Duration"),
      (#""android":{"ttl":"1.0000000001s"}"#, "message.android.ttl", "Duration"),
      (#""android":{"ttl":"999999999999s"}"#, "message.android.ttl", "Duration"),
      (#""android":{"ttl":"1 s"}"#, "message.android.ttl", "Duration"),
      (#""android":{"ttl":"s"}"#, "message.android.ttl", "Duration"),
      (#""android":{"priority":"urgent"}"#, "message.android.priority", #""urgent""#),
      (#""android":{"direct_boot_ok":"true"}"#, "message.android.direct_boot_ok", "TYPE_BOOL"),
      (
        #""android":{"notification":{"notification_count":1.5}}"#, "message.android.notification.notification_count",
        "INT32"
      ),
      (
        #""android":{"notification":{"notification_count":2147483648}}"#,
        "message.android.notification.notification_count", "2147483648"
      ),
      (
        #""android":{"notification":{"event_time":"yesterday"}}"#, "message.android.notification.event_time",
        "Timestamp"
      ),
      (
        #""android":{"notification":{"body_loc_args":["a",1]}}"#, "message.android.notification.body_loc_args[1]",
        "TYPE_STRING"
      ),
      (#""fid":"fQ3dummyFIDdummyFID22x""#, "message", "oneof"), (#""topic":"x""#, "message", "oneof"),
    ])
  func refused(_ message: String, _ field: String, _ text: String) {
    guard case .failure(let error) = Self.read(message) else {
      Issue.record("accepted")
      return
    }
    #expect(error.http == 400)
    #expect(error.status == "INVALID_ARGUMENT")
    #expect(error.code == nil)
    #expect(Self.field(of: error) == field)
    #expect(error.message.contains(text), "\(error.message)")
  }

  @Test(
    "anything but one JSON object is refused",
    arguments: ["", "{", "[]", "1", "null", "{}{}", "{\"message\":[]}", "{\"m\":1}"])
  func malformed(_ body: String) {
    guard case .failure(let error) = Self.readRaw(body) else {
      Issue.record("accepted")
      return
    }
    #expect(error.code == nil)
  }

  @Test("a request that is cut anywhere or nested deeply is refused")
  func cuts() {
    let body = #"{"message":{"token":"\#(Self.token)","android":{"ttl":"1s"}}}"#
    for length in 0..<body.count {
      guard case .failure = Self.readRaw(String(body.prefix(length))) else {
        Issue.record("\(length) is accepted")
        return
      }
    }
    for deep in [String(repeating: "[", count: 100_000), String(repeating: #"{"message":"#, count: 20_000)] {
      guard case .failure = Self.readRaw(deep) else {
        Issue.record("accepted")
        return
      }
    }
  }

  @Test(
    "what FCM itself refuses has its code",
    arguments: [
      (#"{"message":{}}"#, "message"), ("{}", "message"), (#"{"message":{"topic":"a"}}"#, "message"),
      (#"{"message":{"token":"not-a-token"}}"#, "message.token"), (#"{"message":{"token":""}}"#, "message.token"),
      (#"{"message":{"token":"a:APA91b c"}}"#, "message.token"), (#"{"message":{"fid":"short"}}"#, "message.token"),
      (#"{"message":{"token":"a:APA91b","data":{"from":"x"}}}"#, "message.data"),
      (#"{"message":{"token":"a:APA91b","android":{"data":{"google.x":"x"}}}}"#, "message.data"),
      (#"{"message":{"token":"a:APA91b","data":{"gcm.notification.x":"x"}}}"#, "message.data"),
      (#"{"message":{"token":"a:APA91b","data":{"message_type":"x"}}}"#, "message.data"),
      (#"{"message":{"token":"a:APA91b","android":{"ttl":"2419201s"}}}"#, "message.android.ttl"),
      (#"{"message":{"token":"a:APA91b","android":{"ttl":"-0.5s"}}}"#, "message.android.ttl"),
      (#"{"message":{"token":"a:APA91b","android":{},"android_v2":{}}}"#, "message.android_v2"),
    ])
  func invalid(_ body: String, _ field: String) {
    guard case .failure(let error) = Self.readRaw(body) else {
      Issue.record("accepted")
      return
    }
    #expect(error.code == "INVALID_ARGUMENT")
    #expect(Self.field(of: error) == field)
  }

  @Test("notification and data have 4096 bytes at most, keys included", arguments: [(4096, true), (4097, false)])
  func sizes(_ size: Int, _ isAccepted: Bool) {
    // `title`, `ä` and `k` take 8 bytes; what is Android's alone does not count.
    let text = String(repeating: "x", count: size - 8)
    let result = Self.read(
      #""notification":{"title":"ä"},"data":{"k":"\#(text)"},"android":{"notification":{"tag":"0123456789"}}"#)
    #expect(((try? result.get()) != nil) == isAccepted)
  }

  @Test("Android's data replaces the common data, and the priority is high for a notification alone")
  func values() throws {
    let both = try Self.read(#""data":{"a":"1"},"android":{"data":{"b":"2"}}"#).get()
    #expect(both.data == ["b": "2"])
    #expect(!both.isHigh)
    #expect(!both.isNotification)
    #expect(both.ttlSeconds == 2_419_200)
    let shown = try Self.read(#""notification":{"title":"a"},"android":{"ttl":"3.9s","notification":{"title":"b"}}"#)
      .get()
    #expect(shown.isHigh)
    #expect(shown.title == "b")
    #expect(shown.ttlSeconds == 3)
  }
}

@Suite("The judge of assertions")
struct AssertionJudgeTests {
  private static let key = RSAPrivateKey()
  private static let now: Int64 = 1_790_000_000
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  private static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  private static let judge = AssertionJudge(
    accounts: ["a@b": SimulatedAccount(email: "a@b", project: "p", keyIdentifier: "k1", key: key.publicKey)],
    audiences: ["https://oauth2.googleapis.com/token"], now: now)

  private static func assertion(
    header: String = #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#, iss: String = "a@b", scope: String = scope,
    aud: String = "https://oauth2.googleapis.com/token", iat: String = "\(now)", exp: String = "\(now + 3600)",
    key: RSAPrivateKey = key
  ) throws -> String {
    let claims = #"{"iss":"\#(iss)","scope":"\#(scope)","aud":"\#(aud)","iat":\#(iat),"exp":\#(exp)}"#
    let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
    return signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
  }

  private static func word(_ assertion: String, grant: String = grant) -> String {
    switch judge.judge(["grant_type": grant, "assertion": assertion]) {
    case .token: "token"
    case .identity: "identity"
    case .refusal(let error, let text): "\(error): \(text)"
    }
  }

  @Test("a good assertion gets a token with the known ones of its scopes")
  func good() throws {
    let other = "https://www.googleapis.com/auth/cloud-platform"
    let form = ["grant_type": Self.grant, "assertion": try Self.assertion(scope: "\(Self.scope) unknown \(other)")]
    #expect(Self.judge.judge(form) == .token(email: "a@b", scopes: [Self.scope, other]))
  }

  @Test(
    "times have both edges",
    arguments: [
      (0, 3600, true), (0, 3601, false), (0, 1, true), (0, 0, false), (300, 3900, true), (301, 3901, false),
      (-3599, 1, true), (-3600, 0, false), (-7200, -3600, false), (0, -1, false),
    ] as [(Int64, Int64, Bool)])
  func times(_ issued: Int64, _ end: Int64, _ isAccepted: Bool) throws {
    let word = Self.word(try Self.assertion(iat: "\(Self.now + issued)", exp: "\(Self.now + end)"))
    #expect(isAccepted ? word == "token" : word.hasPrefix("invalid_grant: Invalid JWT: Token must be a short-lived"))
  }

  @Test(
    "times that are no times are refused",
    arguments: ["null", "\"1\"", "1.5", "-1", "9223372036854775807", "-9223372036854775808", "1e300", "[]"])
  func strangeTimes(_ text: String) throws {
    #expect(Self.word(try Self.assertion(iat: text)) != "token")
    #expect(Self.word(try Self.assertion(exp: text)) != "token")
  }

  @Test("every mistake has Google's words")
  func mistakes() throws {
    let signature = "invalid_grant: Invalid JWT Signature."
    let table = [
      (try Self.assertion(key: RSAPrivateKey()), signature), (try Self.assertion() + "A", signature),
      (try Self.assertion(header: #"{"alg":"none","kid":"k1"}"#), signature),
      (try Self.assertion(header: #"{"alg":"HS256","kid":"k1"}"#), signature),
      (try Self.assertion(header: #"{"alg":"RS256","kid":"k2"}"#), signature),
      (try Self.assertion(header: #"{"alg":"RS256"}"#), signature),
      (try Self.assertion(iss: "c@d"), "invalid_grant: Invalid grant: account not found"),
      (
        try Self.assertion(aud: "https://oauth2.googleapis.com/token/"),
        "invalid_grant: Invalid JWT: Failed audience check."
      ),
      (try Self.assertion(scope: ""), "invalid_scope: Empty or missing scope not allowed."),
      (try Self.assertion(scope: "unknown"), "identity"), ("abc", "invalid_request: Bad Request"),
      ("", "invalid_request: Bad Request"), ("a.b.c", "invalid_request: Bad Request"),
      ("..", "invalid_request: Bad Request"), ("W10.W10.", "invalid_request: Bad Request"),
    ]
    for (assertion, word) in table { #expect(Self.word(assertion) == word) }
    #expect(Self.word("a.b.c", grant: "password") == "unsupported_grant_type: Invalid grant_type: password")
  }

  @Test("an assertion that is cut anywhere gets no token")
  func cuts() throws {
    let assertion = try Self.assertion()
    for length in 0..<assertion.count { #expect(Self.word(String(assertion.prefix(length))) != "token") }
  }

  @Test(
    "a form is decoded, and broken fields are left out",
    arguments: [
      ("a=1&b=2", ["a": "1", "b": "2"]), ("a=%3A+%c3%A4", ["a": ": ä"]), ("a", ["a": ""]), ("", [:]), ("&&", [:]),
      ("a=%", [:]), ("a=%4", [:]), ("a=%GG&b=1", ["b": "1"]), ("a=%FF", [:]), ("a=b=c", ["a": "b=c"]),
    ])
  func forms(_ body: String, _ fields: [String: String]) {
    #expect(Dictionary(FormFields.read(Array(body.utf8))) { first, _ in first } == fields)
  }
}
