import Testing

@testable import Channels
@testable import HTTP2
@testable import PushRules

@Suite("Why APNs refuses every push")
struct APNSRefusalTests {
  private func words(_ reason: APNSReason?, age seconds: Int = 12, clock: Int64? = nil) -> String {
    let difference = clock.flatMap { ClockDifference(date: "Thu, 01 Jan 1970 02:00:00 GMT", now: 7200 + $0) }
    return APNSRefusal(
      APNSAnswer(status: 403, reason: reason), tokenAge: .seconds(seconds), clock: difference
    ).words
  }

  @Test("a young token that is called expired is the clock's fault, by how much the answer's date tells")
  func expired() {
    let fact = "APNs calls a provider token expired that was signed 12 s ago"
    #expect(
      words("ExpiredProviderToken", clock: -3720) == "\(fact): this machine's clock is 3720 s behind that of APNs")
    let guess = "this machine's clock seems to be at least 3588 s behind that of APNs"
    #expect(words("ExpiredProviderToken") == "\(fact): \(guess)")
    #expect(words("ExpiredProviderToken", clock: 5) == "\(fact): \(guess)")
  }

  @Test("an old token that is called expired says nothing of the clock")
  func old() {
    #expect(
      words("ExpiredProviderToken", age: 3600)
        == "APNs calls a provider token expired that was signed 3600 s ago")
  }

  @Test("an invalid token may be the clock's fault too")
  func invalid() {
    let fact = "APNs refuses the provider token (InvalidProviderToken)"
    #expect(
      words("InvalidProviderToken", clock: 7300) == "\(fact): this machine's clock is 7300 s ahead of that of APNs")
    #expect(
      words("InvalidProviderToken", clock: 0)
        == "\(fact): the key, its identifier, the team's identifier or this machine's clock is wrong")
  }

  @Test("other words are passed on")
  func others() {
    #expect(words("TopicDisallowed") == "APNs refuses the pushes: TopicDisallowed")
    #expect(words(nil) == "APNs refuses the pushes: http_403")
  }
}

@Suite("What a GOAWAY says")
struct GoAwayNoticeTests {
  private func notice(_ debug: String, code: UInt32 = 0) -> GoAwayNotice {
    GoAwayNotice(
      HTTP2GoAway(lastStreamID: 0, code: HTTP2ErrorCode(rawValue: code), debugData: Array(debug.utf8)))
  }

  @Test(
    "a reason about credentials is a configuration fault",
    arguments: [
      "BadCertificate", "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
      "Forbidden", "InvalidProviderToken", "MissingProviderToken", "TopicDisallowed",
    ])
  func configuration(reason: String) {
    let notice = notice(#"{"reason":"\#(reason)"}"#)
    #expect(notice.consequence == .configurationFault(APNSReason(rawValue: reason)))
    #expect(notice.words == reason)
  }

  @Test("an idle connection is opened again when it is needed")
  func idle() {
    #expect(notice(#"{"reason":"IdleTimeout"}"#).consequence == .reconnectWhenNeeded)
  }

  @Test(
    "everything else asks for another connection",
    arguments: [
      #"{"reason":"Shutdown"}"#, #"{"reason":"BadDeviceToken"}"#, #"{"reason":"Novelty"}"#, "", "{", #"{"reason":7}"#,
      "[]", "Maximum active streams violated for this endpoint.", "\u{0}",
    ])
  func reconnect(debug: String) {
    #expect(notice(debug).consequence == .reconnect)
  }

  @Test("debug data cut anywhere is no error, and no reason unless it is whole")
  func cut() {
    let whole = #"{"reason":"BadCertificate"}"#
    for length in 0..<whole.utf8.count {
      #expect(notice(String(whole.prefix(length))).consequence == .reconnect)
    }
  }

  @Test("other words are quoted with the code, on one line and not endlessly")
  func words() {
    #expect(notice("").words == "GOAWAY NO_ERROR (0)")
    #expect(notice("too many\nstreams", code: 7).words == "GOAWAY REFUSED_STREAM (7): too many streams")
    #expect(notice(String(repeating: "x", count: 5000)).words.utf8.count < 300)
  }
}

@Suite("The difference of the clocks")
struct ClockDifferenceTests {
  @Test(
    "a date of RFC 9110 is compared with this machine's clock",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777, 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_115_377, 3600),
      ("Thu, 01 Jan 1970 00:00:10 GMT", 0, -10), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199, 0),
      ("Tue, 31 Dec 2999 00:00:00 GMT", 32_503_593_600, 0),
    ] as [(String, Int64, Int64)])
  func dates(date: String, now: Int64, seconds: Int64) {
    #expect(ClockDifference(date: date, now: now)?.seconds == seconds)
  }

  @Test("a minute is notable, in either direction", arguments: [(59, false), (60, true), (-59, false), (-60, true)])
  func notable(seconds: Int64, isNotable: Bool) {
    #expect(ClockDifference(date: "Thu, 01 Jan 1970 01:00:00 GMT", now: 3600 + seconds)?.isNotable == isNotable)
  }
}

@Suite("What an answer of APNs asks for with retry-after")
struct RetryAfterTests {
  @Test(
    "counts up to a quarter of an hour, and from the answer's own date alone",
    arguments: [
      ("0", nil, 0), ("120", nil, 120), ("900", nil, 900), ("901", nil, 900),
      ("Sun, 06 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", 60),
      ("Sun, 06 Nov 1994 08:49:36 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", 0), (nil, nil, nil),
      ("Sun, 06 Nov 1994 08:50:37 GMT", nil, nil), ("Sun, 06 Nov 1994 08:50:37 GMT", "now", nil),
    ] as [(String?, String?, Int?)])
  func wait(_ text: String?, _ date: String?, _ seconds: Int?) {
    #expect(RetryAfter.wait(text, date: date) == seconds.map { .seconds($0) })
  }
}
