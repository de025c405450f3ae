import Testing

@testable import Simulators

@Suite("The hourly budget and the history of a Live Activity")
struct ActivityBudgetTests {
  private static let start: Int64 = 1_790_000_000

  @Test("pushes of priority 10 beyond the budget are held back until the hour is over; priority 5 is free")
  func budget() throws {
    var activity = activity()
    let sent: [(after: Int64, priority: Int, drop: ActivityDrop?)] = [
      (0, 10, nil), (1, 10, nil), (2, 10, .throttled), (3, 5, nil), (3599, 10, .throttled), (3600, 10, nil),
      (3601, 10, nil), (3602, 10, .throttled),
    ]
    for (after, priority, drop) in sent {
      let origin = ActivityPush.Origin.at(Self.start + after, priority: priority)
      #expect(activity.take(try update(after), from: origin, hourly: 2) == drop, "after \(after) s")
    }
    #expect(activity.dropped == [.throttled: 3] && activity.history.count == 5)
  }

  @Test("without a budget every push is shown, and a budget that is set later begins then")
  func none() throws {
    var activity = activity()
    for number in 0..<5 {
      #expect(activity.take(try update(Int64(number)), from: .at(Self.start), hourly: nil) == nil)
    }
    #expect(activity.take(try update(9), from: .at(Self.start), hourly: 1) == nil)
    #expect(activity.take(try update(9), from: .at(Self.start), hourly: 1) == .throttled)
  }

  @Test("the service applies the budget of its conduct")
  func conduct() throws {
    let stand = ActivityStand()
    var conduct = stand.service.conduct
    conduct.activityBudget = 1
    stand.service.conduct = conduct
    let token = try #require(try stand.begin()?.token)
    for _ in 0..<2 {
      let update = #""timestamp":\#(ActivityStand.seconds),"event":"update","content-state":{}"#
      #expect(try stand.push(update, to: token).verdict?.status == 200)
    }
    #expect(stand.drops == [.throttled: 1] && stand.activities.first?.history.count == 2)
  }

  @Test("a history keeps the newest hundred pushes and counts all")
  func history() throws {
    var activity = activity()
    for number in 0..<101 {
      let origin = ActivityPush.Origin.at(Self.start, push: number + 1)
      #expect(activity.take(try update(Int64(number)), from: origin, hourly: nil) == nil)
    }
    #expect(activity.history.count == 101 && activity.history.entries.map(\.push) == Array(2...101))
  }

  @Test("a history of large states keeps fewer, and always the newest")
  func largeStates() throws {
    var activity = activity()
    let text = String(repeating: "x", count: 60_000)
    for number in 0..<3 {
      let push = try update(Int64(number), state: #"{"x":"\#(text)"}"#)
      #expect(activity.take(push, from: .at(Self.start, push: number), hourly: nil) == nil)
    }
    #expect(activity.history.entries.map(\.push) == [2] && activity.history.count == 3)
  }

  private func activity() -> SimulatedActivity {
    SimulatedActivity(
      "A1", on: "phone", of: ActivityStand.owner, attributesType: "T",
      startedAt: WallInstant(seconds: Self.start))
  }

  private func update(_ after: Int64, state: String = "{}") throws -> ActivityPush {
    let aps = #""timestamp":\#(Self.start + after),"event":"update","content-state":\#(state)"#
    return try #require(ActivityPush(body: Array(#"{"aps":{\#(aps)}}"#.utf8)))
  }
}
