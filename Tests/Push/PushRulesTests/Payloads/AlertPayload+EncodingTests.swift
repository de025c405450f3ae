import PushRules
import Testing

private typealias Row = (payload: AlertPayload, aps: String)

/// Payloads of little more than a title, each with its `aps` but for the title.
private func rows() throws -> [Row] {
  [
    (try AlertPayload(title: "t"), ""),
    (try AlertPayload(title: "t", threadIdentifier: "c-1"), #","thread-id":"c-1""#),
    (try AlertPayload(title: "t", category: "MEAL"), #","category":"MEAL""#),
    (try AlertPayload(title: "t", interruptionLevel: .passive), #","interruption-level":"passive""#),
    (try AlertPayload(title: "t", interruptionLevel: .active), #","interruption-level":"active""#),
    (try AlertPayload(title: "t", interruptionLevel: .timeSensitive), #","interruption-level":"time-sensitive""#),
    (try AlertPayload(title: "t", interruptionLevel: .critical), #","interruption-level":"critical""#),
    (try AlertPayload(title: "t", relevanceScore: .zero), #","relevance-score":0.0"#),
    (try AlertPayload(title: "t", relevanceScore: UnitFraction(0.25)), #","relevance-score":0.25"#),
    (try AlertPayload(title: "t", targetContentIdentifier: "w"), #","target-content-id":"w""#),
    (try AlertPayload(title: "t", filterCriteria: "work"), #","filter-criteria":"work""#),
    (try AlertPayload(title: "t", runsServiceExtension: true), #","mutable-content":1"#),
    (try AlertPayload(title: "t", wakesApp: true), #","content-available":1"#),
    (try AlertPayload(title: "t", badge: 0), #","badge":0"#),
    (try AlertPayload(title: "t", badge: -1), #","badge":0"#),
    (try AlertPayload(title: "t", badge: .max), #","badge":9223372036854775807"#),
    (try AlertPayload(title: "t", sound: .default), #","sound":"default""#),
    (try AlertPayload(title: "t", sound: "achievement.caf"), #","sound":"achievement.caf""#),
    (
      try AlertPayload(title: "t", sound: .critical(name: "default", volume: .one)),
      #","sound":{"critical":1,"name":"default","volume":1.0}"#
    ),
    (
      try AlertPayload(title: "t", sound: .critical(name: "urgent.caf", volume: .zero)),
      #","sound":{"critical":1,"name":"urgent.caf","volume":0.0}"#
    ),
    (try AlertPayload(title: "t", sound: ""), ""),
    (try AlertPayload(title: "t", sound: .critical(name: "", volume: .one)), ""),
    (try AlertPayload(title: "t", threadIdentifier: "", category: "", filterCriteria: ""), ""),
  ]
}

@Suite("The encoding of an alert payload")
struct AlertPayloadEncodingTests {
  @Test("everything set comes in a fixed order")
  func full() throws {
    let payload = try AlertPayload(
      title: "Message from Ana", subtitle: "Choir", body: "Hi \"you\"", launchImage: "l", badge: 3, sound: .default,
      threadIdentifier: "c-1", category: "MESSAGE", interruptionLevel: .active, relevanceScore: .one,
      targetContentIdentifier: "w", filterCriteria: "f", runsServiceExtension: true, wakesApp: true,
      custom: ["type": "message", "conversation_id": "c-1", "message_id": "m-1"])
    #expect(
      text(payload)
        == #"{"aps":{"alert":{"title":"Message from Ana","subtitle":"Choir","body":"Hi \"you\"","launch-image":"l"},"#
        + #""badge":3,"sound":"default","thread-id":"c-1","category":"MESSAGE","interruption-level":"active","#
        + #""relevance-score":1.0,"target-content-id":"w","filter-criteria":"f","mutable-content":1,"#
        + #""content-available":1},"type":"message","conversation_id":"c-1","message_id":"m-1"}"#)
    #expect(payload.pushType == .alert)
  }

  @Test("each member has its form, and what is empty or nil is left out")
  func members() throws {
    for row in try rows() {
      #expect(text(row.payload) == #"{"aps":{"alert":{"title":"t"}\#(row.aps)}}"#)
    }
  }

  @Test(
    "texts are words, or keys with their arguments",
    arguments: [
      ("t", "", "", #""title":"t""#), ("", "s", "", #""subtitle":"s""#), ("", "", "b", #""body":"b""#),
      ("t", "s", "b", #""title":"t","subtitle":"s","body":"b""#),
      (.localized(key: "T"), "", "", #""title-loc-key":"T""#),
      (.localized(key: ""), .localized(key: "", arguments: ["a"]), "b", #""body":"b""#),
      (
        .localized(key: "T", arguments: ["1"]), .localized(key: "S", arguments: ["2", ""]),
        .localized(key: "B", arguments: ["\"3\""]),
        #""title-loc-key":"T","title-loc-args":["1"],"subtitle-loc-key":"S","subtitle-loc-args":["2",""],"#
          + #""loc-key":"B","loc-args":["\"3\""]"#
      ),
    ] as [(AlertText, AlertText, AlertText, String)])
  func texts(title: AlertText, subtitle: AlertText, body: AlertText, alert: String) throws {
    let payload = try AlertPayload(title: title, subtitle: subtitle, body: body)
    #expect(text(payload) == #"{"aps":{"alert":{\#(alert)}}}"#)
  }

  @Test("a badge or a sound needs no text beside it")
  func silent() throws {
    #expect(try text(AlertPayload(badge: 0)) == #"{"aps":{"badge":0}}"#)
    #expect(try text(AlertPayload(sound: .default)) == #"{"aps":{"sound":"default"}}"#)
    let payload = try AlertPayload(title: "", badge: 1, sound: .default, wakesApp: true, custom: ["k": .null])
    #expect(text(payload) == #"{"aps":{"badge":1,"sound":"default","content-available":1},"k":null}"#)
  }
}
