import Channels
import FoundationEssentials
import PushRules
import TestIDs
import Testing

@testable import PushPipeline

@Suite("A lane whose tokens are refused and asked about in the other environment")
struct LaneDoubtTests {
  @Test("while a refused token of an unproven lane is asked about elsewhere, nothing goes; five of a proven one")
  func pause() {
    for (lane, doubts) in [(Lane.new(), 1), (Lane.new(), 5)] {
      if doubts == 5 { send(.accepted, over: lane) }
      for _ in 0..<doubts {
        #expect(lane.admits(lane.shutCount))
        lane.beginDoubt("BadDeviceToken")
      }
      #expect(!lane.admits(lane.shutCount))
      #expect(lane.room(now: 0) == 0)
      #expect(lane.objection(to: "aa", now: 0) == waiting("BadDeviceToken", .none))
      #expect(lane.endDoubt(), "what was turned away goes now")
      #expect(lane.objection(to: "aa", now: 0) == nil)
      #expect(!lane.endDoubt())
    }
  }

  @Test("a success ends the pause as well: the lane is right, whatever becomes of the tokens")
  func pauseEnds() {
    let lane = Lane.new()
    for _ in 0..<3 { lane.beginDoubt(nil) }
    #expect(lane.objection(to: "aa", now: 0) != nil)
    #expect(lane.conclude(.accepted, to: "bb", now: 0, draw: 0.5).hasMoreRoom)
    #expect(lane.objection(to: "aa", now: 0) == nil)
  }

  @Test("a token that was believed to be bad is kept if the lane shuts before it is dropped")
  func confirmed() {
    let lane = Lane.new()
    send(.accepted, over: lane)
    let shutCount = lane.shutCount
    let dead = send(.refused, to: "bad", over: lane)
    #expect(lane.confirm(dead, sinceShut: shutCount) == .dead(reason: "BadDeviceToken", sinceMilliseconds: nil))
    for number in 0..<4 { send(.refused, to: "bad\(number)", over: lane) }
    #expect(lane.fault == "BadDeviceToken")
    #expect(lane.confirm(dead, sinceShut: shutCount) == waiting("BadDeviceToken", .long))
    send(.accepted, over: lane, at: Lane.second)
    #expect(lane.confirm(dead, sinceShut: shutCount) == waiting("BadDeviceToken", .long), "nor after it is back")
  }

  @Test("what is refused beyond those that are asked about waits for them, and costs the lane nothing")
  func crowd() {
    let lane = Lane.new()
    send(.accepted, over: lane)
    #expect(lane.objection(to: "late", now: 0) == nil)
    for _ in 0..<5 { lane.beginDoubt("BadDeviceToken") }
    #expect(lane.putOff(.refused, now: 0, draw: 0.5).verdict == waiting("BadDeviceToken", .brief))
    #expect(lane.fault == nil)
    #expect(lane.endDoubt(), "it goes now")
    lane.stop(because: "BadDeviceToken", now: 0, draw: 0.5)
    #expect(lane.putOff(.refused, now: 0, draw: 0.5).verdict == waiting("BadDeviceToken", .long))
  }

  @Test(
    "tokens that cannot be asked about are put off, but enough of them stop the lane, and none is dropped",
    arguments: [(false, 1), (true, 5)])
  func unresolved(_ isProven: Bool, _ stoppingNumber: Int) {
    let lane = Lane.new()
    if isProven { send(.accepted, over: lane) }
    let putOff = DeviceVerdict.postponed(reason: "apns_unreachable", minimum: .seconds(60))
    for number in 1...8 {
      let verdict = lane.concludeUnresolved(
        .refused, because: "apns_unreachable", of: HostID.new(), now: 0, draw: 0.5
      ).verdict
      #expect(verdict == (number < stoppingNumber ? putOff : waiting("BadDeviceToken", .long)), "\(number)")
      #expect((lane.fault == nil) == (number < stoppingNumber))
    }
  }
}
