import APNSCore
import Testing

private let moment: Int64 = 1_790_000_000
private let state: PayloadObject = ["elapsed": 60, "rate": .number(1.5), "exercise": .object(["name": "Row"])]
private let stateBytes = #""content-state":{"elapsed":60,"rate":1.5,"exercise":{"name":"Row"}}"#

private func start(
  type: String = "WorkoutAttributes", staleDate: Int64? = nil, relevanceScore: FiniteNumber? = nil,
  input: LiveActivityStart.Input? = nil
) throws -> LiveActivityPayload.Event {
  .start(
    try LiveActivityStart(
      attributesType: type, attributes: ["kind": "rowing"], contentState: state,
      alert: LiveActivityAlert(title: "Row", body: "Started"), staleDate: staleDate, relevanceScore: relevanceScore,
      input: input))
}

private let startBytes =
  #""event":"start","attributes-type":"WorkoutAttributes","attributes":{"kind":"rowing"},"#
  + stateBytes + #","alert":{"title":"Row","body":"Started"}"#

private func rows() throws -> [(LiveActivityPayload.Event, String)] {
  let alert = try LiveActivityAlert(body: "b")
  let channel = try ChannelIdentifier("dHN0LXNyY2gtY2hubA==")
  return [
    (try start(), startBytes),
    (
      try start(staleDate: moment + 1800, relevanceScore: -1e9),
      startBytes + #","stale-date":1790001800,"relevance-score":-1000000000.0"#
    ),
    (try start(input: .pushToken), startBytes + #","input-push-token":1"#),
    (try start(input: .channel(channel)), startBytes + #","input-push-channel":"dHN0LXNyY2gtY2hubA==""#),
    (.update(LiveActivityUpdate(contentState: state)), #""event":"update",\#(stateBytes)"#),
    (
      .update(LiveActivityUpdate(contentState: [:], alert: alert, staleDate: 7, relevanceScore: 100.0)),
      #""event":"update","content-state":{},"alert":{"body":"b"},"stale-date":7,"relevance-score":100.0"#
    ),
    (.end(LiveActivityEnd(contentState: nil)), #""event":"end""#),
    (
      .end(LiveActivityEnd(contentState: state, alert: alert, dismissalDate: moment + 30)),
      #""event":"end",\#(stateBytes),"alert":{"body":"b"},"dismissal-date":1790000030"#
    ),
  ]
}

@Suite("Live Activity payloads")
struct LiveActivityPayloadTests {
  @Test("each event has its members in a fixed order")
  func events() throws {
    for (event, aps) in try rows() {
      let payload = try LiveActivityPayload(timestamp: moment, event: event)
      #expect(text(payload) == #"{"aps":{"timestamp":1790000000,\#(aps)}}"#)
      #expect(payload.pushType == .liveactivity)
    }
  }

  @Test("an activity cannot start without the name of its type")
  func typeless() throws {
    let error = try #require(throws: PushRequestError.self) { try start(type: "") }
    #expect(error.code == .valueEmpty)
  }

  @Test(
    "an ended activity stays for four hours at most",
    arguments: [
      (Int64.min, true), (0, true), (moment, true), (moment + 14_400, true), (moment + 14_401, false), (.max, false),
    ])
  func dismissal(date: Int64, isTaken: Bool) throws {
    let event = LiveActivityPayload.Event.end(LiveActivityEnd(contentState: nil, dismissalDate: date))
    guard !isTaken else {
      #expect(try LiveActivityPayload(timestamp: moment, event: event).event == event)
      return
    }
    let error = try #require(throws: PushRequestError.self) {
      try LiveActivityPayload(timestamp: moment, event: event)
    }
    #expect(error.code == .dismissalTooLate)
  }

  @Test("no timestamp is too far away to be compared", arguments: [Int64.min, .max])
  func farTimestamps(timestamp: Int64) throws {
    for date in [Int64.min, .max] {
      let event = LiveActivityPayload.Event.end(LiveActivityEnd(contentState: nil, dismissalDate: date))
      let payload = try? LiveActivityPayload(timestamp: timestamp, event: event)
      #expect((payload != nil) == (date <= timestamp))
    }
  }
}
