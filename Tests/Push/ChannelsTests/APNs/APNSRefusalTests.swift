import PushRules
import Testing

@testable import Channels
@testable import HTTP2

@Suite("Why APNs refuses every push")
struct APNSRefusalTests {
  private func words(_ reason: PushReason?, age seconds: Int = 12, clock: Int64? = nil) -> String {
    let difference = clock.flatMap { ClockDifference(date: "Thu, 01 Jan 1970 02:00:00 GMT", now: 7200 + $0) }
    return APNSRefusal(
      PushAnswer(status: 403, reason: reason), tokenAge: .seconds(seconds), clock: difference
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
    #expect(notice.consequence == .configurationFault(PushReason(rawValue: reason)))
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
