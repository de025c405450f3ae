import Testing

@testable import Simulators

private let start: Int64 = 1_790_000_000
private let hour: Int64 = 3600

@Suite("A Live Activity")
struct SimulatedActivityTests {
  @Test(
    "a push is shown or dropped by its members",
    arguments: [
      (#""timestamp":\#(start),"event":"update","content-state":{"eta":2}"#, nil),
      (#""timestamp":\#(start - 1),"event":"update","content-state":{}"#, .old),
      (#""timestamp":\#(start + 8 * hour),"event":"update","content-state":{}"#, nil),
      (#""timestamp":\#(start + 8 * hour + 1),"event":"update","content-state":{}"#, .future),
      (#""timestamp":\#(start),"event":"update""#, .noState),
      (#""timestamp":\#(start),"event":"update","content-state":null"#, .noState),
      (#""timestamp":\#(start),"event":"update","content-state":[1]"#, .noState),
      (#""timestamp":\#(start),"event":"end""#, nil), (#""timestamp":\#(start - 1),"event":"end""#, .old),
      (#""event":"update","content-state":{}"#, .noTimestamp),
      (#""timestamp":"1","event":"update","content-state":{}"#, .noTimestamp),
      (#""timestamp":-1,"event":"update","content-state":{}"#, .noTimestamp),
      (#""timestamp":1e300,"event":"update","content-state":{}"#, .noTimestamp),
      (#""timestamp":\#(start),"content-state":{}"#, .noEvent),
      (#""timestamp":\#(start),"event":"pause","content-state":{}"#, .noEvent),
      (#""timestamp":\#(start),"event":"start","content-state":{}"#, .wrongToken),
    ] as [(String, ActivityDrop?)])
  func members(_ aps: String, drop: ActivityDrop?) throws {
    var activity = try started()
    #expect(try take(aps, &activity) == drop)
    #expect(activity.history.count == (drop == nil ? 2 : 1))
    #expect(activity.dropped == drop.map { [$0: 1] } ?? [:])
    #expect(activity.state?.text == (aps.contains(#""eta":2"#) ? #"{"eta":2}"# : #"{"eta":1}"#) || drop == nil)
  }

  @Test("the state is replaced as a whole, and kept by an end without one")
  func state() throws {
    var activity = try started()
    _ = try take(
      #""timestamp":\#(start + 1),"event":"update","content-state":{"b":[1.5,null,true],"a":"x"}"#, &activity)
    #expect(activity.state?.text == #"{"a":"x","b":[1.5,null,true]}"#)
    _ = try take(#""timestamp":\#(start + 2),"event":"end""#, &activity)
    #expect(activity.state?.text == #"{"a":"x","b":[1.5,null,true]}"# && activity.lastTimestamp == start + 2)
  }

  @Test("it ends by itself eight hours after its start, and leaves four hours later")
  func endsByItself() throws {
    let activity = try started()
    let end = start + 8 * hour
    #expect(activity.endedAt(seconds(end - 1)) == nil && activity.endedAt(seconds(end)) == seconds(end))
    #expect(!activity.isDismissed(at: seconds(end + 4 * hour - 1)) && activity.isDismissed(at: seconds(end + 4 * hour)))
  }

  @Test(
    "after the end nothing is shown any more, whoever ended it",
    arguments: [(8 * hour - 1, nil), (8 * hour, ActivityDrop.ended)] as [(Int64, ActivityDrop?)])
  func afterTheEnd(later: Int64, drop: ActivityDrop?) throws {
    let update = #""timestamp":\#(start + 9),"event":"update","content-state":{}"#
    var lasting = try started()
    #expect(try take(update, &lasting, at: start + later) == drop)
    var ended = try started()
    _ = try take(#""timestamp":\#(start),"event":"end""#, &ended)
    #expect(try take(update, &ended, at: start + 1) == .ended)
  }

  @Test(
    "an ended one stays for four hours at most",
    arguments: [
      (nil, 4 * hour), (-1, 0), (0, 0), (30, 30), (4 * hour, 4 * hour), (4 * hour + 1, 4 * hour),
    ] as [(Int64?, Int64)])
  func dismissal(date: Int64?, after: Int64) throws {
    var activity = try started()
    let member = date.map { #","dismissal-date":\#(start + 60 + $0)"# } ?? ""
    _ = try take(#""timestamp":\#(start),"event":"end"\#(member)"#, &activity, at: start + 60)
    #expect(activity.dismissedAt(seconds(start + 60)) == seconds(start + 60 + after))
    #expect(
      activity.isDismissed(at: seconds(start + 60 + after)) && !activity.isDismissed(at: seconds(start + 59 + after)))
  }

  @Test("a state is stale from its date on, until the next push or the end")
  func stale() throws {
    var activity = try started(#","stale-date":\#(start + 300)"#)
    #expect(!activity.isStale(at: seconds(start + 299)) && activity.isStale(at: seconds(start + 300)))
    _ = try take(#""timestamp":\#(start),"event":"update","content-state":{}"#, &activity)
    #expect(!activity.isStale(at: seconds(start + 300)))
    _ = try take(#""timestamp":\#(start),"event":"end","stale-date":\#(start)"#, &activity)
    #expect(!activity.isStale(at: seconds(start + 1)))
  }

  @Test(
    "an alert is shown with a title only",
    arguments: [
      (#"{"title":"t","body":"b"}"#, 2), (#"{"title":{"loc-key":"T"}}"#, 2), (#"{"body":"b"}"#, 1),
      (#"{"title":""}"#, 1), (#"{"title":{"loc-args":[]}}"#, 1), (#""t""#, 1), ("null", 1),
    ])
  func alerts(_ alert: String, count: Int) throws {
    var activity = try started()
    _ = try take(#""timestamp":\#(start),"event":"update","content-state":{},"alert":\#(alert)"#, &activity)
    #expect(activity.alerts == count && activity.history.count == 2)
    #expect(activity.lastAlert?.text == (count == 2 ? alert.sortedMembers : #"{"title":"Ride"}"#))
  }

  @Test("the relevance stays until another one comes")
  func relevance() throws {
    var activity = try started(#","relevance-score":-2.5"#)
    _ = try take(#""timestamp":\#(start),"event":"update","content-state":{}"#, &activity)
    #expect(activity.relevanceScore == -2.5)
    _ = try take(#""timestamp":\#(start),"event":"update","content-state":{},"relevance-score":100"#, &activity)
    #expect(activity.relevanceScore == 100)
  }

  private func started(_ more: String = "") throws -> SimulatedActivity {
    var activity = SimulatedActivity(
      "A1", on: "phone", of: ActivityStand.owner, attributesType: "RideAttributes", startedAt: seconds(start))
    let aps = #""timestamp":\#(start),"event":"start","content-state":{"eta":1},"alert":{"title":"Ride"}\#(more)"#
    activity.show(try push(aps), from: .at(start))
    return activity
  }

  private func take(
    _ aps: String, _ activity: inout SimulatedActivity, at moment: Int64 = start
  ) throws -> ActivityDrop? {
    activity.take(try push(aps), from: .at(moment), hourly: nil)
  }

  private func push(_ aps: String) throws -> ActivityPush {
    try #require(ActivityPush(body: Array(#"{"aps":{\#(aps)}}"#.utf8)))
  }

  private func seconds(_ number: Int64) -> WallInstant { WallInstant(seconds: number) }
}

extension ActivityPush.Origin {
  static func at(_ seconds: Int64, priority: Int = 10, push: Int = 1) -> ActivityPush.Origin {
    ActivityPush.Origin(
      push: push, receivedMicroseconds: seconds * 1_000_000, at: WallInstant(seconds: seconds), priority: priority)
  }
}

extension String {
  /// The alerts of the table with their members in alphabetical order.
  fileprivate var sortedMembers: String {
    self == #"{"title":"t","body":"b"}"# ? #"{"body":"b","title":"t"}"# : self
  }
}
