import APNSCore
import Testing

@Suite("Alerts of Live Activities")
struct LiveActivityAlertTests {
  @Test(
    "localised texts stand inside title and body, the sound inside the alert",
    arguments: [
      ("t", "b", nil, #""title":"t","body":"b""#), ("t", nil, nil, #""title":"t""#), ("", "b", "", #""body":"b""#),
      ("t", "b", "default", #""title":"t","body":"b","sound":"default""#),
      (
        .localized(key: "T"), .localized(key: "B", arguments: ["1", "\"2\""]), "goal.caf",
        #""title":{"loc-key":"T"},"body":{"loc-key":"B","loc-args":["1","\"2\""]},"sound":"goal.caf""#
      ),
    ] as [(AlertText?, AlertText?, String?, String)])
  func bytes(title: AlertText?, body: AlertText?, sound: String?, expected: String) throws {
    let alert = try LiveActivityAlert(title: title, body: body, sound: sound)
    let payload = try LiveActivityPayload(
      timestamp: 0, event: .update(LiveActivityUpdate(contentState: [:], alert: alert)))
    #expect(
      text(payload) == #"{"aps":{"timestamp":0,"event":"update","content-state":{},"alert":{\#(expected)}}}"#)
  }

  @Test(
    "an alert without a text is refused", arguments: [nil, "", .localized(key: "", arguments: ["a"])] as [AlertText?])
  func empty(text: AlertText?) throws {
    let error = try #require(throws: PushRequestError.self) {
      try LiveActivityAlert(title: text, body: text, sound: "default")
    }
    #expect(error.code == .nothingToShow)
  }
}
