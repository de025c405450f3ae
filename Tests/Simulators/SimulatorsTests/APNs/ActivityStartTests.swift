import Testing

@testable import Simulators

@Suite("Live Activity pushes and the kinds of tokens")
struct ActivityStartTests {
  private static let timestamp = #""timestamp":\#(ActivityStand.seconds)"#
  private static let update = #"\#(timestamp),"event":"update","content-state":{}"#
  private static let end = #"\#(timestamp),"event":"end""#

  @Test("a start that asks for it gets an activity with an update token, which updates and ends it")
  func life() throws {
    let stand = ActivityStand()
    let activity = try #require(try stand.begin())
    #expect(activity.device == "phone" && activity.attributesType == "RideAttributes")
    #expect(activity.attributes?.text == #"{"id":"r1"}"# && activity.state?.text == #"{"eta":1}"#)
    #expect(activity.alerts == 1 && activity.startedAt == stand.now)
    let token = try #require(activity.token)
    #expect(APNSInquiry.isDeviceToken(token) && token.count > 64)
    for push in [Self.update, Self.end, Self.update] {
      #expect(try stand.push(push, to: token).verdict?.status == 200)
    }
    let shown = try #require(stand.activities.first)
    #expect(shown.endedAt(stand.now) == stand.now && shown.state?.text == "{}" && shown.dropped == [.ended: 1])
    #expect(shown.history.entries.map(\.event) == [.start, .update, .end])
    #expect(shown.history.entries.map(\.receivedMilliseconds) == [1500.25, 1500.25, 1500.25])
    #expect(stand.service.lint.counts.isEmpty)
  }

  @Test(
    "the update token comes when it is asked for and the user allows updates",
    arguments: [
      (nil, true, true, true), (nil, false, true, false), (true, false, true, true), (false, true, true, false),
      (nil, true, false, false),
    ] as [(Bool?, Bool, Bool, Bool)])
  func permission(registration: Bool?, conduct: Bool, asks: Bool, hasToken: Bool) throws {
    let stand = ActivityStand(allowsUpdates: registration)
    var changed = stand.service.conduct
    changed.allowsActivityUpdates = conduct
    stand.service.conduct = changed
    let activity = try #require(try stand.begin(#""input-push-token":\#(asks ? 1 : 0)"#))
    #expect((activity.token != nil) == hasToken)
    #expect(stand.service.renewToken(of: activity.identifier) != nil)
  }

  @Test(
    "a start without what a device needs starts nothing, and says why",
    arguments: [
      (#""attributes-type":"RideAttributes""#, #""x":1"#, ActivityDrop.noAttributesType),
      (#""attributes-type":"RideAttributes""#, #""attributes-type":"""#, .noAttributesType),
      (#""attributes-type":"RideAttributes""#, #""attributes-type":"MealAttributes""#, .wrongAttributesType),
      (#""attributes":{"id":"r1"}"#, #""x":1"#, .noAttributes), (#""content-state":{"eta":1}"#, #""x":1"#, .noState),
      (#""alert":{"title":"Ride","body":"On its way"}"#, #""x":1"#, .noAlert),
      (#""alert":{"title":"Ride","body":"On its way"}"#, #""alert":null"#, .noAlert),
      (#""event":"start""#, #""event":"begin""#, .noEvent),
    ])
  func missing(_ member: String, replacement: String, drop: ActivityDrop) throws {
    let stand = ActivityStand()
    let start = "\(Self.timestamp),\(ActivityStand.start)"
    let changed = start.replacing(member, with: replacement)
    #expect(changed != start)
    let reception = try stand.push(changed, to: ActivityStand.startToken)
    #expect(reception.verdict?.status == 200 && stand.activities.isEmpty && stand.drops == [drop: 1])
  }

  @Test(
    "a start has a time that is not far ahead",
    arguments: [
      (#""timestamp":\#(ActivityStand.seconds + 28_800)"#, nil),
      (#""timestamp":\#(ActivityStand.seconds + 28_801)"#, .future), (#""timestamp":1"#, nil),
      (#""timestamp":null"#, .noTimestamp),
    ] as [(String, ActivityDrop?)])
  func start(_ members: String, drop: ActivityDrop?) throws {
    let stand = ActivityStand()
    _ = try stand.push("\(members),\(ActivityStand.start)", to: ActivityStand.startToken)
    #expect(stand.activities.count == (drop == nil ? 1 : 0) && stand.drops == drop.map { [$0: 1] } ?? [:])
  }

  @Test("what fits no token is answered 200, shown nowhere, and noticed")
  func wrongTokens() throws {
    let stand = ActivityStand()
    let token = try #require(try stand.begin()?.token)
    let start = "\(Self.timestamp),\(ActivityStand.start)"
    let sent = [
      (start, token), (Self.update, ActivityStand.startToken), (Self.end, ActivityStand.startToken),
      (start, ActivityStand.deviceToken), (Self.update, ActivityStand.deviceToken),
    ]
    for (push, token) in sent { #expect(try stand.push(push, to: token).verdict?.status == 200) }
    #expect(stand.drops == [.wrongToken: 5] && stand.service.lint.counts == [.liveActivityWrongToken: 5])
    #expect(stand.activities.map(\.history.count) == [1])
    let drops = stand.service.withActivities { $0.drops.entries }
    #expect(drops.map(\.push) == [2, 3, 4, 5, 6] && drops.allSatisfy { $0.device == "phone" })
  }

  @Test("an alert without a title is noticed")
  func untitled() throws {
    let stand = ActivityStand()
    let token = try #require(try stand.begin()?.token)
    _ = try stand.push(#"\#(Self.update),"alert":{"body":"b"}"#, to: token)
    #expect(stand.service.lint.counts == [.liveActivityUntitledAlert: 1])
  }

  @Test("a new update token replaces the old one, which has expired")
  func renewal() throws {
    let stand = ActivityStand()
    let activity = try #require(try stand.begin())
    let old = try #require(activity.token)
    stand.advance(seconds: 60)
    let new = try #require(stand.service.renewToken(of: activity.identifier))
    let gone = try stand.push(Self.update, to: old).verdict
    #expect(gone?.status == 410 && gone?.reason == "ExpiredToken")
    #expect(gone?.timestampMilliseconds == stand.now.milliseconds)
    #expect(try stand.push(Self.update, to: new).verdict?.status == 200)
    #expect(stand.activities.first?.history.count == 2 && stand.activities.first?.token == new)
    #expect(stand.service.renewToken(of: activity.identifier, to: "BB00") == "bb00")
    #expect(stand.service.renewToken(of: "no such") == nil)
    stand.advance(seconds: 8 * 3600)
    #expect(stand.service.renewToken(of: activity.identifier) == nil)
  }
}
