import APNSCore
import Testing

@testable import APNS
@testable import HTTP2

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
