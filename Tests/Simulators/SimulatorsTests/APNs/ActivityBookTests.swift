import Testing

@testable import Simulators

@Suite("The Live Activities of all devices")
struct ActivityBookTests {
  private static let update = #""timestamp":\#(ActivityStand.seconds),"event":"update","content-state":{"eta":7}"#

  @Test("an app's own activity is known by its update token, and another token replaces the first")
  func startedByTheApp() throws {
    let stand = ActivityStand()
    #expect(stand.register("BB00", .update(activity: "ride-1", attributesType: "RideAttributes")))
    #expect(try stand.push(Self.update, to: "bb00").verdict?.status == 200)
    let shown = try #require(stand.activities.first)
    #expect(shown.identifier == "ride-1" && shown.token == "bb00" && shown.state?.text == #"{"eta":7}"#)
    #expect(stand.register("bb01", .update(activity: "ride-1", attributesType: "RideAttributes")))
    #expect(try stand.push(Self.update, to: "bb00").verdict?.reason == "ExpiredToken")
    #expect(try stand.push(Self.update, to: "bb01").verdict?.status == 200)
    #expect(stand.activities.map(\.history.count) == [2])
  }

  @Test("an activity that its user ends is gone at once, and its token has expired")
  func dismissed() throws {
    let stand = ActivityStand()
    let activity = try #require(try stand.begin())
    #expect(stand.service.dismissActivity(activity.identifier) && !stand.service.dismissActivity("no such"))
    #expect(stand.activities.first?.isDismissed(at: stand.now) == true)
    #expect(try stand.push(Self.update, to: #require(activity.token)).verdict?.reason == "ExpiredToken")
  }

  @Test("a removed token is unknown, and its activity has none")
  func removedToken() throws {
    let stand = ActivityStand()
    let token = try #require(try stand.begin()?.token)
    #expect(stand.service.removeToken(token.uppercased()) && !stand.service.removeToken(token))
    #expect(stand.activities.first?.token == nil)
    #expect(try stand.push(Self.update, to: token).verdict?.reason == "BadDeviceToken")
  }

  @Test("everything can be forgotten; then tokens have expired")
  func forgotten() throws {
    let stand = ActivityStand()
    let token = try #require(try stand.begin()?.token)
    _ = try stand.push(Self.update, to: ActivityStand.startToken)
    stand.service.forgetActivities()
    #expect(stand.activities.isEmpty && stand.drops.isEmpty)
    #expect(try stand.push(Self.update, to: token).verdict?.reason == "ExpiredToken")
  }

  @Test("a full book takes no more running ones, and forgets the oldest finished ones")
  func bound() throws {
    let stand = ActivityStand()
    let first = try #require(try stand.begin())
    stand.advance(seconds: 1)
    let full = ActivityBook.activitiesMax
    for number in 1..<full {
      #expect(stand.register("bb", .update(activity: "ride-\(number)", attributesType: "")))
    }
    _ = try stand.begin()
    #expect(stand.activities.count == full && stand.drops == [.tooMany: 1])
    stand.advance(seconds: 8 * 3600 - 1)
    let next = try #require(try stand.begin())
    #expect(next.token != nil)
    #expect(stand.activities.count == full && stand.service.withActivities { $0[first.identifier] } == nil)
    #expect(try stand.push(Self.update, to: #require(first.token)).verdict?.reason == "ExpiredToken")
    #expect(stand.service.withActivities { $0["ride-1"] } != nil)
  }
}
