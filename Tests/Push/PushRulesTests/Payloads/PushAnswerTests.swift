import PushRules
import Testing

@Suite("APNs answers")
struct PushAnswerTests {
  private func answer(_ body: String, status: Int = 400) -> PushAnswer {
    PushAnswer(status: status, identifier: nil, body: [UInt8](body.utf8))
  }

  @Test("a success has no body")
  func success() {
    let answer = PushAnswer(status: 200, identifier: "F4121B12-E0BF-3266-F079-D9253E98BF49", body: [])
    #expect(answer == PushAnswer(status: 200, identifier: "F4121B12-E0BF-3266-F079-D9253E98BF49"))
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
