import Testing

@testable import PushRules

@Suite("Live Activity payloads")
struct LiveActivityPayloadTests {
  private static let state: PayloadObject = [
    "eta": 1_764_000_600, "rate": .number(1.5), "whole": .number(30.0), "note": .null,
  ]
  private static let stateText = #""content-state":{"eta":1764000600,"rate":1.5,"whole":30.0,"note":null}"#

  private func start(asksForToken: Bool = false) throws -> LiveActivityPayload.Event {
    .start(
      LiveActivityStart(
        attributesType: "RideAttributes", attributes: ["id": "r1", "begin": .number(785_692_800.5)],
        asksForToken: asksForToken,
        alert: try LiveActivityAlert(title: "Ride", body: "On its way")))
  }

  private func encoded(_ payload: LiveActivityPayload) -> String { String(decoding: payload.encoded(), as: UTF8.self) }

  @Test("a start has its type, its attributes and its alert")
  func start() throws {
    let payload = try LiveActivityPayload(timestamp: 1_764_000_000, event: start(), contentState: Self.state)
    #expect(
      encoded(payload) == #"{"aps":{"timestamp":1764000000,"event":"start","attributes-type":"RideAttributes","#
        + #""attributes":{"id":"r1","begin":785692800.5},\#(Self.stateText),"#
        + #""alert":{"title":"Ride","body":"On its way"}}}"#)
  }

  @Test("a start may ask for a token", arguments: [(false, ""), (true, #""input-push-token":1,"#)])
  func token(asksForToken: Bool, expected: String) throws {
    let payload = try LiveActivityPayload(
      timestamp: 1, event: start(asksForToken: asksForToken), contentState: [:], relevanceScore: 100)
    #expect(
      encoded(payload) == #"{"aps":{"timestamp":1,"event":"start","attributes-type":"RideAttributes","#
        + #""attributes":{"id":"r1","begin":785692800.5},\#(expected)"content-state":{},"#
        + #""alert":{"title":"Ride","body":"On its way"},"relevance-score":100.0}}"#)
  }

  @Test("an update has a state, and the rest where it is wanted")
  func update() throws {
    let bare = try LiveActivityPayload(timestamp: 2, event: .update, contentState: [:])
    #expect(encoded(bare) == #"{"aps":{"timestamp":2,"event":"update","content-state":{}}}"#)
    let alert = try LiveActivityAlert(
      title: .localized(key: "T"), body: .localized(key: "B", arguments: ["1", "\""]), sound: "default")
    let full = try LiveActivityPayload(
      timestamp: 2, event: .update, contentState: Self.state, staleDate: 9, relevanceScore: -0.5, alert: alert)
    #expect(
      encoded(full) == #"{"aps":{"timestamp":2,"event":"update",\#(Self.stateText),"alert":{"title":{"loc-key":"T"},"#
        + #""body":{"loc-key":"B","loc-args":["1","\""]},"sound":"default"},"stale-date":9,"relevance-score":-0.5}}"#)
  }

  @Test("an end has a dismissal date, and neither a stale date nor a relevance")
  func end() throws {
    let bare = try LiveActivityPayload(timestamp: 3, event: .end(), contentState: [:])
    #expect(encoded(bare) == #"{"aps":{"timestamp":3,"event":"end","content-state":{}}}"#)
    let full = try LiveActivityPayload(
      timestamp: 3, event: .end(dismissalDate: 33), contentState: ["n": 1], staleDate: 9, relevanceScore: 1,
      alert: LiveActivityAlert(title: "Over"))
    #expect(full.staleDate == nil && full.relevanceScore == nil)
    #expect(
      encoded(full)
        == #"{"aps":{"timestamp":3,"event":"end","content-state":{"n":1},"alert":{"title":"Over"},"dismissal-date":33}}"#
    )
  }

  @Test("a start's alert is its own")
  func startAlert() throws {
    let other = try LiveActivityAlert(title: "other")
    let payload = try LiveActivityPayload(timestamp: 1, event: start(), contentState: [:], alert: other)
    #expect(payload.alert?.title == "Ride")
  }

  @Test("an alert needs a title; an empty body is left out", arguments: ["", "t"])
  func alert(title: String) throws {
    guard title.isEmpty else {
      #expect(try LiveActivityAlert(title: .verbatim(title), body: "").body == nil)
      return
    }
    let error = try #require(throws: PushRequestError.self) { try LiveActivityAlert(title: .verbatim(title)) }
    #expect(error.code == .nothingToShow)
  }

  @Test(
    "any finite number is a relevance", arguments: [-1e308, 0, 1e308, .infinity, -.infinity, .nan] as [Double])
  func relevance(score: Double) throws {
    guard !score.isFinite else {
      let payload = try LiveActivityPayload(timestamp: 1, event: .update, contentState: [:], relevanceScore: score)
      #expect(payload.relevanceScore == score)
      return
    }
    let error = try #require(throws: PushRequestError.self) {
      try LiveActivityPayload(timestamp: 1, event: .update, contentState: [:], relevanceScore: score)
    }
    #expect(error.code == .numberNotFinite)
  }
}
