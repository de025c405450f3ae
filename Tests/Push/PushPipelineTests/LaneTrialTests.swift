import Channels
import PushRules
import Testing

@testable import PushPipeline

@Suite("A lane that is asked about the other environment's tokens")
struct LaneTrialTests {
  private static let second: UInt64 = 1_000_000_000

  /// What may become of a trial, in words that can be compared.
  private enum Admission: Equatable {
    case admitted, impossible
    case notNow(String?)
  }

  private func makeLane() -> Lane {
    Lane(PushFixtures.route.delivery, LaneConfiguration(), logger: .quiet)
  }

  /// Sends a push of the lane's own; what becomes of it.
  @discardableResult
  private func send(_ attempt: PushAttempt, over lane: Lane, at now: UInt64 = 0) -> DeviceVerdict {
    if let objection = lane.objection(to: "aa", now: now) { return objection }
    return lane.conclude(attempt, to: "aa", now: now, draw: 0.5).verdict
  }

  private func admit(to lane: Lane, at now: UInt64 = 0) -> Admission {
    switch lane.admitTrial(now: now) {
    case .admitted: .admitted
    case .notNow(let reason): .notNow(reason)
    case .impossible: .impossible
    }
  }

  /// Makes a trial that ends like this, if it is admitted.
  @discardableResult
  private func ask(_ attempt: PushAttempt, over lane: Lane, at now: UInt64 = 0) -> Admission {
    let admission = admit(to: lane, at: now)
    if admission == .admitted { _ = lane.concludeTrial(attempt, now: now, draw: 0.5) }
    return admission
  }

  @Test(
    "one that is refused because the credential is not for this environment is not made again, and is no fault",
    arguments: [
      PushAttempt.answered(403, "BadEnvironmentKeyInToken"), .answered(403, "BadEnvironmentKeyIdInToken"),
      .answered(403, "BadCertificateEnvironment"), .refused("BadEnvironmentKeyInToken"),
      .refused("BadCertificateEnvironment"),
    ])
  func otherKey(_ attempt: PushAttempt) {
    let lane = makeLane()
    #expect(ask(attempt, over: lane) == .admitted)
    #expect(lane.fault == nil)
    #expect(ask(attempt, over: lane) == .impossible)
    send(.accepted, over: lane)
    #expect(admit(to: lane) == .admitted, "the credential is right now")
  }

  @Test(
    "one that meets any other fault is made again, until five of a second have shut the lane",
    arguments: [
      PushAttempt.badKey, .answered(407, nil), .answered(301, nil), .refused("InvalidProviderToken"), .unreachable,
      .broken,
    ])
  func sporadicFault(_ attempt: PushAttempt) {
    let lane = makeLane()
    for number in 0..<5 { #expect(ask(attempt, over: lane, at: UInt64(number) * Self.second) == .admitted) }
    #expect(lane.fault == attempt.reason)
    #expect(admit(to: lane, at: 4 * Self.second) == .notNow(attempt.reason))
  }

  @Test("the refusals of trials do not count against the lane's own tokens")
  func trialsOfStrangers() {
    let lane = makeLane()
    send(.accepted, over: lane)
    for _ in 0..<100 { ask(.refused, over: lane) }
    #expect(send(.refused, over: lane) == .dead(reason: "BadDeviceToken", sinceMilliseconds: nil))
    #expect(lane.fault == nil)
  }

  @Test("a lane that is shut for its settings is no place for trials; one that is out is probed by them")
  func trialsOfShutLanes() {
    let refused = makeLane()
    send(.badKey, over: refused)
    #expect(admit(to: refused, at: 3600 * Self.second) == .notNow("InvalidProviderToken"))
    let out = makeLane()
    for number in 0..<5 { send(.answerLost, over: out, at: UInt64(number) * Self.second) }
    #expect(admit(to: out, at: 4 * Self.second) == .notNow("apns_answer_lost"))
    #expect(admit(to: out, at: 60 * Self.second) == .admitted)
    #expect(out.concludeTrial(.refused, now: 60 * Self.second, draw: 0.5))
    #expect(out.fault == nil)
  }

  @Test("one that finds APNs back and its credential for the other environment alone opens the lane, and is the last")
  func otherKeyAfterOutage() {
    let lane = makeLane()
    for number in 0..<5 { ask(.unreachable, over: lane, at: UInt64(number) * Self.second) }
    #expect(lane.fault == "apns_unreachable")
    #expect(ask(.answered(403, "BadEnvironmentKeyInToken"), over: lane, at: 60 * Self.second) == .admitted)
    #expect(lane.fault == nil)
    #expect(admit(to: lane, at: 60 * Self.second) == .impossible)
  }

  @Test("a lane that only trials have shut for its settings is probed by trials, or nobody would ever open it")
  func shutByTrials() {
    let lane = makeLane()
    for number in 0..<5 { ask(.badKey, over: lane, at: UInt64(number) * Self.second) }
    #expect(lane.fault == "InvalidProviderToken")
    #expect(ask(.badKey, over: lane, at: 60 * Self.second) == .admitted)
    #expect(ask(.accepted, over: lane, at: 61 * Self.second) == .notNow("InvalidProviderToken"))
    #expect(ask(.accepted, over: lane, at: 120 * Self.second) == .admitted)
    #expect(lane.fault == nil)
  }

  @Test("none is made where a push of the lane's own has been told that the credential is not for this environment")
  func otherKeyOfOwn() {
    let lane = makeLane()
    send(.answered(403, "BadEnvironmentKeyInToken"), over: lane)
    #expect(lane.fault == "BadEnvironmentKeyInToken")
    #expect(admit(to: lane, at: 3600 * Self.second) == .impossible)
    #expect(send(.accepted, over: lane, at: 3600 * Self.second) == .accepted)
    #expect(admit(to: lane, at: 3600 * Self.second) == .admitted)
  }

  @Test("trials that shut a lane leave nobody waiting for it; a push of its own does, until the lane is open")
  func waitedFor() {
    let lane = makeLane()
    for number in 0..<5 { ask(.unreachable, over: lane, at: UInt64(number) * Self.second) }
    #expect(lane.fault != nil && !lane.isWaitedFor)
    send(.accepted, over: lane, at: 4 * Self.second)
    #expect(lane.isWaitedFor, "it was turned away")
    ask(.refused, over: lane, at: 60 * Self.second)
    #expect(lane.fault == nil && !lane.isWaitedFor)
    send(.badKey, over: lane, at: 61 * Self.second)
    #expect(lane.fault != nil && lane.isWaitedFor)
    send(.limited, over: lane, at: 120 * Self.second)
    #expect(lane.fault != nil && lane.isWaitedFor, "others still wait")
    send(.accepted, over: lane, at: 240 * Self.second)
    #expect(lane.fault == nil && !lane.isWaitedFor)
  }
}
