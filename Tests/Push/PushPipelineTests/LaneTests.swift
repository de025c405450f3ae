import Channels
import FoundationEssentials
import PushRules
import TestIDs
import TestLogs
import Testing

@testable import PushPipeline

@Suite("A lane")
struct LaneTests {
  @Test("on a lane that nothing has passed a refused token shuts the lane and costs no token; a success opens it")
  func unproven() {
    let lane = Lane.new()
    #expect(send(.refused, over: lane) == waiting("BadDeviceToken", .long))
    #expect(lane.fault == "BadDeviceToken")
    #expect(send(.accepted, over: lane) == waiting("BadDeviceToken", .none))
    #expect(send(.refused, over: lane, at: Lane.second) == waiting("BadDeviceToken", .long))
    #expect(send(.accepted, to: "bb", over: lane, at: 3 * Lane.second) == .accepted)
    #expect(lane.fault == nil)
    #expect(send(.refused, over: lane) == .dead(reason: "BadDeviceToken", sinceMilliseconds: nil))
    #expect(send(.otherApps, over: lane) == .dead(reason: "DeviceTokenNotForTopic", sinceMilliseconds: nil))
  }

  @Test("a permit ends when the lane shuts; that of the probe alone holds meanwhile")
  func permits() {
    let lane = Lane.new()
    let early = lane.shutCount
    #expect(lane.admits(early))
    send(.badKey, over: lane)
    #expect(!lane.admits(early))
    #expect(lane.objection(to: "probe", now: Lane.second) == nil)
    #expect(lane.admits(lane.shutCount) && !lane.admits(early))
    #expect(lane.withdraw() == waiting("InvalidProviderToken", .none))
    _ = lane.conclude(.accepted, to: "probe", now: Lane.second, draw: 0.5)
    #expect(lane.admits(early), "what still waits may go when the lane is back")
  }

  @Test("a dead token proves the route as well as an accepted push does")
  func provenByDeath() {
    let lane = Lane.new()
    #expect(send(.unregistered, over: lane) == .dead(reason: "Unregistered", sinceMilliseconds: 1_700_000_000_123))
    #expect(send(.refused, over: lane) == .dead(reason: "BadDeviceToken", sinceMilliseconds: nil))
  }

  @Test("a refusal of the credential that is laid to the target is tried again, and sets no target aside")
  func repeated() {
    var refusal = DeliveryAttempt(.fixCredentials, status: 403, reason: "http_403", fault: .configuration)
      .suspectingTarget
    refusal.repeatsPush = true
    let lane = Lane.new()
    send(.accepted, over: lane)
    let again = DeviceVerdict.postponed(reason: "http_403", minimum: .zero)
    for number in 0..<40 {
      send(.accepted, to: "good", over: lane)
      #expect(lane.objection(to: "bad\(number)", now: 0) == nil)
      let verdict = lane.conclude(refusal, to: "bad\(number)", now: 0, draw: 0.5).verdict
      // So many stop the route once, which then goes on warily.
      if lane.fault == nil {
        #expect(verdict == again)
      } else {
        #expect(verdict == .waiting(lane: lane.route.name, reason: "http_403", .long))
        #expect(send(.accepted, to: "probe", over: lane, at: 3 * Lane.second) == .accepted)
      }
      #expect(lane.quarantine.count == 0)
    }
    #expect(lane.shutCount == 1)
  }

  /// A lane on which 40 pushes were accepted and 10 refused.
  private func crowded(_ lines: LogLines = LogLines()) -> Lane {
    let lane = Lane.new(lines)
    for number in 0..<40 { send(.accepted, to: "good\(number)", over: lane) }
    for number in 0..<10 { send(.refused, to: "bad\(number)", over: lane) }
    return lane
  }

  @Test("a crowd of refusals shuts the lane; no answer but a success opens it, and stragglers do not count")
  func crowd() {
    let lane = crowded()
    #expect(lane.fault == "BadDeviceToken")
    #expect(lane.room(now: Lane.second - 1) == 0)
    #expect(lane.room(now: Lane.second) == 1)
    for attempt in [APNSOutcome.accepted, .unregistered, .refused, .limited, .badKey, .busy] {
      _ = lane.conclude(attempt, to: "straggler", now: 0, draw: 0.5)
      #expect(lane.fault == "BadDeviceToken", "\(attempt)")
    }
    #expect(send(.limited, over: lane, at: Lane.second) == .postponed(reason: "TooManyRequests", minimum: .seconds(60)))
    #expect(lane.fault == "BadDeviceToken")
    #expect(send(.accepted, over: lane, at: 3 * Lane.second) == .accepted)
    #expect(lane.fault == nil)
  }

  @Test("afterwards what is refused is set aside: its push fails, its token stays, and for an hour it is not sent to")
  func quarantine() {
    let lane = crowded()
    send(.accepted, to: "good", over: lane, at: Lane.second)
    let refusal = DeviceVerdict.refused(reason: "BadDeviceToken")
    #expect(send(.refused, to: "bad0", over: lane, at: Lane.second) == refusal)
    #expect(send(.accepted, to: "bad0", over: lane, at: Lane.second) == refusal, "it is not even sent")
    #expect(send(.accepted, to: "good", over: lane, at: Lane.second) == .accepted)
    let later = Lane.second + 3600 * Lane.second
    #expect(send(.unregistered, to: "bad0", over: lane, at: later) != refusal)
  }

  @Test("a host that registers rubbish among good tokens stops the lane once, and not for good")
  func rubbish() {
    let lane = crowded()
    var now = Lane.second
    var turnedAway = 0
    for number in 0..<2000 {
      now += 10_000_000
      let isRubbish = number.isMultiple(of: 3)
      let verdict = send(
        isRubbish ? .refused : .accepted, to: isRubbish ? "rubbish\(number)" : "good", over: lane, at: now)
      if case .waiting = verdict { turnedAway += 1 }
      if case .dead = verdict { Issue.record("a token was dropped") }
    }
    #expect(lane.fault == nil)
    // The first probe, a second later, is rubbish; the next, after two more, is not.
    #expect((200...210).contains(turnedAway), "\(turnedAway)")
    for number in 0..<200 { send(.accepted, to: "good\(number)", over: lane, at: now) }
    #expect(send(.refused, to: "lone", over: lane, at: now) == .dead(reason: "BadDeviceToken", sinceMilliseconds: nil))
  }

  @Test("on a lane that nothing has passed the first wrong credential shuts it; on another five of a second do")
  func credentials() {
    let new = Lane.new()
    #expect(send(.badKey, over: new) == waiting("InvalidProviderToken", .brief))
    #expect(new.fault == "InvalidProviderToken")
    let proven = Lane.new()
    send(.accepted, over: proven)
    for number in 0..<5 {
      #expect(proven.fault == nil)
      #expect(send(.badKey, over: proven, at: UInt64(number) * Lane.second) == waiting("InvalidProviderToken", .brief))
    }
    #expect(proven.fault == "InvalidProviderToken")
  }

  @Test("one push that meets a 5xx while others pass waits by itself, and does not shut the lane")
  func lonelyFault() {
    let lane = Lane.new()
    for number in 0..<50 {
      let now = UInt64(number) * Lane.second
      #expect(send(.broken, over: lane, at: now) == .postponed(reason: "InternalServerError", minimum: .zero))
    }
    #expect(lane.fault == nil)
    for device in ["b", "c", "d", "e"] { send(.busy, to: device, over: lane, at: 60 * Lane.second) }
    #expect(lane.fault == "ServiceUnavailable", "five devices are no coincidence")
    #expect(send(.busy, over: lane, at: 61 * Lane.second) == waiting("ServiceUnavailable", .brief))
  }

  @Test("while the lane is in doubt, a straggler's refusal costs no token either")
  func inDoubt() {
    let lane = Lane.new()
    send(.badKey, over: lane)
    #expect(lane.conclude(.refused, to: "bb", now: 0, draw: 0.5).verdict == waiting("BadDeviceToken", .long))
  }

  @Test("what waits comes back in growing numbers, less what is on its way")
  func slowStart() {
    let lane = Lane.new()
    #expect(lane.room(now: 0) == 1)
    #expect(lane.objection(to: "aa", now: 0) == nil)
    #expect(lane.room(now: 0) == 0)
    #expect(lane.conclude(.accepted, to: "aa", now: 0, draw: 0.5).hasMoreRoom)
    #expect(lane.room(now: 0) == 8)
    for number in 0..<8 { _ = lane.objection(to: "\(number)", now: 0) }
    #expect(lane.room(now: 0) == 0)
    #expect(!lane.conclude(.answerLost, to: "0", now: 0, draw: 0.5).hasMoreRoom)
    for number in 1..<8 { #expect(!lane.conclude(.accepted, to: "\(number)", now: 0, draw: 0.5).hasMoreRoom) }
    #expect(lane.room(now: 0) == 8)
    _ = lane.objection(to: "8", now: 0)
    #expect(lane.conclude(.limited, to: "8", now: 0, draw: 0.5).hasMoreRoom)
    #expect(lane.room(now: 0) == 64)
    for number in 0..<64 { send(.accepted, to: "\(number)", over: lane) }
    #expect(lane.room(now: 0) == .max)
  }

  @Test("a lane that opens again says so, and begins at eight")
  func opened() {
    let lane = crowded()
    _ = lane.objection(to: "good", now: Lane.second)
    #expect(lane.conclude(.accepted, to: "good", now: Lane.second, draw: 0.5).hasMoreRoom)
    #expect(lane.room(now: Lane.second) == 8)
  }

  @Test("it alarms once when it is shut for its settings, and says once when it is open")
  func alarms() {
    let lines = LogLines()
    let lane = crowded(lines)
    for number in 1...20 { send(.refused, to: "bad", over: lane, at: UInt64(number) * 120 * Lane.second) }
    #expect(lines.texts == ["error: a route's configuration is refused; its pushes wait in the database"])
    send(.accepted, over: lane, at: 3600 * Lane.second)
    #expect(lines.texts.count == 2)
    #expect(lines.texts.last == "notice: a route takes pushes again")
    #expect(lines.all.allSatisfy { $0.metadata.values.contains("com.example.app/production") })
    #expect(lines.all.allSatisfy { !"\($0)".contains("bad1") })
  }

  @Test("an outage that turns out to be a refusal alarms again, because somebody must do something now")
  func escalation() {
    let lines = LogLines()
    let lane = Lane.new(lines)
    for number in 0..<5 { send(.answerLost, over: lane, at: UInt64(number) * Lane.second) }
    send(.badKey, over: lane, at: 10 * Lane.second)
    #expect(
      lines.texts == [
        "error: a route takes no pushes; they wait in the database",
        "error: a route's configuration is refused; its pushes wait in the database",
      ])
  }
}

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
    for number in 0..<5 { send(.refused, to: "bad\(number)", over: lane) }
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

extension Lane {
  static let second: UInt64 = 1_000_000_000

  /// A lane as a process has it at its start.
  static func new(_ lines: LogLines = LogLines()) -> Lane {
    Lane(PushFixtures.route.delivery, LaneConfiguration(), logger: lines.logger)
  }
}

/// Sends a push at a moment; what becomes of it.
@discardableResult
func send(
  _ attempt: APNSOutcome, to device: String = "aa", over lane: Lane, at now: UInt64 = 0
) -> DeviceVerdict {
  if let objection = lane.objection(to: device, now: now) { return objection }
  return lane.conclude(attempt, to: device, now: now, draw: 0.5).verdict
}

/// That a push waits for the lane of these tests.
func waiting(_ reason: String, _ stepBack: DeviceVerdict.StepBack) -> DeviceVerdict {
  .waiting(lane: PushFixtures.route.name, reason: reason, stepBack)
}

// What tests say in the words of APNs.
extension Lane {
  func conclude(
    _ attempt: APNSOutcome, to device: String, of user: HostID? = nil, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    conclude(DeliveryAttempt(attempt), to: device, of: user, now: now, draw: draw)
  }

  func putOff(
    _ attempt: APNSOutcome, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    putOff(DeliveryAttempt(attempt), now: now, draw: draw)
  }

  func concludeUnresolved(
    _ attempt: APNSOutcome, because reason: String?, of user: HostID, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    concludeUnresolved(DeliveryAttempt(attempt), because: reason, of: user, now: now, draw: draw)
  }

  func concludeTrial(_ attempt: APNSOutcome, now: UInt64, draw: Double) -> Bool {
    concludeTrial(DeliveryAttempt(attempt), now: now, draw: draw)
  }
}

extension DeliveryPipeline {
  func fault(of route: PushRoute) -> String? { fault(of: route.delivery) }
}
