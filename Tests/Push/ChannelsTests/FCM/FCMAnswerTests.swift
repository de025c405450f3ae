import Foundation
import HTTPTypes
import PushRules
import TestRandomness
import Testing

@testable import Channels

@Suite("Answers of FCM")
struct FCMAnswerTests {
  private static func attempt(_ status: Int, _ body: String = "", _ fields: HTTPFields = [:]) -> DeliveryAttempt {
    FCMAnswer.attempt(status: status, fields: fields, body: Array(body.utf8))
  }

  private static func fcm(_ code: String) -> String {
    #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#
  }

  private static func violation(_ field: String) -> String {
    #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(field)","description":"d"}]}"#
  }

  private static func limit(_ name: String) -> String {
    #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"R","metadata":{"quota_limit":"\#(name)"}}"#
  }

  private static func envelope(_ status: String, _ details: String...) -> String {
    #"{"error":{"code":400,"message":"m","status":"\#(status)","details":[\#(details.joined(separator: ","))]}}"#
  }

  private static let drop = PushDisposition.dropToken(invalidSinceMilliseconds: nil)

  @Test(
    "a code decides, then the status",
    arguments: [
      (400, "INVALID_ARGUMENT", PushDisposition.fixRequest), (400, "SOMETHING_NEW", .fixRequest),
      (400, "UNREGISTERED", drop), (404, "UNREGISTERED", drop), (410, "UNREGISTERED", drop),
      (500, "UNREGISTERED", .retryLater(minimumWait: .seconds(10))),
      (403, "SENDER_ID_MISMATCH", .suspectToken), (401, "THIRD_PARTY_AUTH_ERROR", .fixCredentials),
      (401, "SOMETHING_NEW", .fixCredentials), (403, "SOMETHING_NEW", .fixCredentials),
      (404, "SOMETHING_NEW", .fixCredentials),
      (429, "QUOTA_EXCEEDED", .retryLater(minimumWait: .seconds(60))),
      (429, "SOMETHING_NEW", .retryLater(minimumWait: .seconds(60))),
      (500, "INTERNAL", .retryLater(minimumWait: .seconds(10))),
      (503, "UNAVAILABLE", .retryLater(minimumWait: .seconds(10))),
      (500, "UNSPECIFIED_ERROR", .retryLater(minimumWait: .seconds(10))), (400, "UNSPECIFIED_ERROR", .fixRequest),
    ])
  func codes(_ status: Int, _ code: String, _ disposition: PushDisposition) {
    let attempt = Self.attempt(status, Self.envelope("S", Self.fcm(code)))
    #expect(attempt.disposition == disposition)
    #expect(attempt.reason == code)
    #expect(attempt.status == status)
  }

  @Test(
    "without a code the status decides",
    arguments: [
      (400, PushDisposition.fixRequest), (401, .refreshProviderToken), (403, .fixCredentials), (404, .fixCredentials),
      (405, .fixRequest), (408, .retryLater(minimumWait: .seconds(10))), (413, .fixRequest),
      (429, .retryLater(minimumWait: .seconds(60))), (499, .fixRequest), (500, .retryLater(minimumWait: .seconds(10))),
      (502, .retryLater(minimumWait: .seconds(10))), (599, .retryLater(minimumWait: .seconds(10))),
      (302, .retryLater(minimumWait: .seconds(10))), (200, .accepted), (299, .accepted),
    ])
  func statuses(_ status: Int, _ disposition: PushDisposition) {
    for body in ["", "<html>", "{}", #"{"error":null}"#, #"{"error":{"status":7,"details":"none"}}"#] {
      let attempt = Self.attempt(status, body)
      #expect(attempt.disposition == disposition, "\(body)")
      #expect(attempt.reason == (disposition == .accepted ? nil : "http_\(status)"))
    }
  }

  @Test("a token is dropped for a violation of its field, in any order of the details")
  func violations() {
    let (code, violation) = (Self.fcm("INVALID_ARGUMENT"), Self.violation("message.token"))
    #expect(Self.attempt(400, Self.envelope("INVALID_ARGUMENT", violation, code)).disposition == Self.drop)
    #expect(Self.attempt(400, Self.envelope("INVALID_ARGUMENT", code, "7", violation)).disposition == Self.drop)
    let others = [
      Self.envelope("INVALID_ARGUMENT", violation), Self.envelope("INVALID_ARGUMENT", code),
      Self.envelope("INVALID_ARGUMENT", code, Self.violation("message.token.x")),
      Self.envelope("INVALID_ARGUMENT", code, Self.violation("message")),
      Self.envelope("INVALID_ARGUMENT", Self.fcm("OTHER"), violation),
    ]
    for body in others { #expect(Self.attempt(400, body).disposition == .fixRequest, "\(body)") }
  }

  @Test("a malformed token is dropped by the sentence where details are missing, unless they name another field")
  func sentences() {
    let words = #""code":400,"message":"The registration token is not a valid FCM registration token","#
    let bare = #"{"error":{\#(words)"status":"INVALID_ARGUMENT"}}"#
    #expect(Self.attempt(400, bare).disposition == Self.drop)
    func detailed(_ details: String...) -> String {
      #"{"error":{\#(words)"status":"INVALID_ARGUMENT","details":[\#(details.joined(separator: ","))]}}"#
    }
    #expect(Self.attempt(400, detailed(Self.fcm("INVALID_ARGUMENT"))).disposition == Self.drop)
    for body in [
      detailed(Self.fcm("OTHER")), detailed(Self.fcm("INVALID_ARGUMENT"), Self.violation("message.data")),
      bare.replacing("INVALID_ARGUMENT", with: "FAILED_PRECONDITION"),
      bare.replacing("token is not", with: "key is not"),
    ] {
      #expect(Self.attempt(400, body).disposition == .fixRequest, "\(body)")
    }
    #expect(Self.attempt(403, bare).disposition == .fixCredentials)
  }

  @Test("of 429, only a quota of the project is the route's fault")
  func quotas() {
    let project = Self.limit("SendsPerMinutePerProject")
    #expect(Self.attempt(429, Self.envelope("S", Self.fcm("QUOTA_EXCEEDED"), project)).fault == .throttle)
    #expect(Self.attempt(429, Self.envelope("S", project)).fault == .throttle)
    #expect(Self.attempt(429, Self.envelope("S", Self.limit("SendsPerMinutePerDevice"))).fault == nil)
    #expect(Self.attempt(429, Self.envelope("S", Self.fcm("QUOTA_EXCEEDED"))).fault == nil)
    #expect(Self.attempt(429).fault == nil)
    #expect(Self.attempt(500).fault == .service)
    #expect(Self.attempt(403).fault == .configuration)
    #expect(Self.attempt(400).fault == nil)
  }

  @Test(
    "Retry-After counts up to an hour, and after a fault of the service not below 10 s",
    arguments: [
      (429, "17", 17, 17), (429, "0", 0, 0), (429, "", 60, 0), (429, "soon", 60, 0), (429, "-5", 60, 0),
      (429, "3600", 3600, 3600), (429, "3601", 3600, 3600), (429, "99999999999999999999", 3600, 3600),
      (503, "30", 30, 30), (503, "9", 10, 10), (503, "10", 10, 10), (503, "1.5", 10, 10), (408, "20", 20, 20),
    ])
  func waits(_ status: Int, _ text: String, _ seconds: Int, _ asked: Int) {
    let attempt = Self.attempt(status, "", [.retryAfter: text])
    #expect(attempt.disposition == .retryLater(minimumWait: .seconds(seconds)))
    #expect(attempt.askedWait == .seconds(asked))
  }

  @Test("dates are those of Foundation", arguments: [0, 951_782_400, 1_790_000_000, 4_107_542_399, 253_402_300_799])
  func calendar(_ seconds: Int64) {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let text = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
    #expect(RetryAfter.unixSeconds(text) == seconds, "\(text)")
  }

  @Test(
    "an accepted message has its identifier, if that is printable",
    arguments: [
      (#"{"name":"projects/p/messages/0:1%2"}"#, "0:1%2"), (#"{"name":"projects/p/messages/"}"#, nil),
      (#"{"name":7}"#, nil), ("{}", nil), ("<html>", nil), ("", nil), (#"{"name":"a\u0000b"}"#, nil),
      (#"{"name":"\#(String(repeating: "a", count: 256))"}"#, String(repeating: "a", count: 256)),
      (#"{"name":"\#(String(repeating: "a", count: 257))"}"#, nil),
    ] as [(String, String?)])
  func identifiers(_ body: String, _ identifier: String?) {
    let attempt = Self.attempt(200, body)
    #expect(attempt.disposition == .accepted)
    #expect(attempt.identifier == identifier)
  }

  @Test(
    "words that are no words are ignored",
    arguments: ["", "a b", "a\\nb", "ä", String(repeating: "A", count: 65), "<script>"])
  func strangeWords(_ word: String) {
    let attempt = Self.attempt(400, Self.envelope(word, Self.fcm(word)))
    #expect(attempt.reason == "http_400")
    #expect(attempt.disposition == .fixRequest)
  }

  @Test("no answer that is cut, deep or huge drops a token")
  func hostile() {
    let body = Self.envelope("NOT_FOUND", Self.fcm("UNREGISTERED"))
    for length in 0..<body.utf8.count {
      let attempt = FCMAnswer.attempt(status: 404, fields: [:], body: Array(body.utf8.prefix(length)))
      #expect(attempt.disposition == .fixCredentials)
    }
    let deep = String(repeating: "[", count: 30_000)
    let huge = Self.envelope("S", Self.fcm("UNREGISTERED"), "\"" + String(repeating: "x", count: 65_536) + "\"")
    let nested = #"{"error":{"details":["# + String(repeating: #"{"a":"#, count: 9000)
    for text in [deep, huge, nested, #"{"error":"# + deep] {
      #expect(Self.attempt(404, text).disposition == .fixCredentials)
    }
    #expect(Self.attempt(200, deep).disposition == .accepted)
  }

  @Test("a damaged answer never traps, and its reason stays a word")
  func damaged() {
    let body = Array(Self.envelope("NOT_FOUND", Self.violation("message.token"), Self.fcm("UNREGISTERED")).utf8)
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<3000 {
      var damaged = body
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        damaged[Int.random(in: 0..<body.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      let attempt = FCMAnswer.attempt(status: 404, fields: [:], body: damaged)
      #expect(attempt.reason.map { AnswerWord($0) != nil } ?? false, "seed \(seed)")
    }
  }

  @Test(
    "a base URL is https, or http on this machine",
    arguments: [
      ("https://fcm.googleapis.com", "https://fcm.googleapis.com"), ("http://127.0.0.1:1/", "http://127.0.0.1:1"),
      ("http://example.com", nil), ("https://a?b", nil), ("https://a#b", nil), ("", nil),
    ])
  func baseURLs(_ text: String, _ expected: String?) {
    #expect(FCMConfiguration(baseURL: text)?.baseURL == expected)
    #expect(FCMConfiguration().baseURL == "https://fcm.googleapis.com")
  }
}
