import Channels
import FoundationEssentials
import Postgres
import PushRules
import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("An outage of APNs", .serialized)
struct LaneOutageTests {
  /// Opens after the first fault, and probes often.
  private static let quick: @Sendable (inout PipelineConfiguration) -> Void = {
    $0.lanes.breaker = .quick
    $0.retry.base = .milliseconds(1)
  }

  @Test(
    "messages wait in the database, and go out newest first when APNs is back",
    arguments: [APNSOutcome.unreachable, .answerLost, .busy, .badKey])
  func waits(_ fault: APNSOutcome) async throws {
    try await Chat.run(configure: Self.quick) { rig, chat, reactor in
      let isBack = Flag()
      rig.channel.answer = { _, _ in isBack.isSet ? .accepted : fault }
      rig.start(on: reactor)
      var messages: [HostID] = []
      for _ in 0..<5 {
        messages.append(try await chat.post(waking: .webhook, on: reactor))
        let outcomes = try await rig.outcomes(of: messages[messages.count - 1], on: reactor)
        #expect(outcomes.map(\.decision) == [.held])
        #expect(outcomes.map(\.reason) == [fault.reason])
      }
      let waiting =
        "select count(*) from tacet.deliveries where state = 'waiting' and lane = 'com.example.app/production'"
      #expect(try await rig.value(waiting, as: Int64.self, on: reactor) == 5)
      #expect(rig.pipeline.fault(of: PushFixtures.route) == fault.reason)
      #expect(rig.pipeline.fault(of: PushFixtures.route(of: "com.example.app", .sandbox)) == nil)
      let before = rig.channel.sent.count
      isBack.isSet = true
      try await rig.nothingLeft(on: reactor)
      #expect(rig.pipeline.fault(of: PushFixtures.route) == nil)
      // The probe may have been any of them; the others follow by age.
      let order = rig.channel.sent[before...].map { $0.request.collapseIdentifier?.text ?? "" }
      let rest = order.suffix(4)
      let ages = rest.compactMap { text in messages.firstIndex { $0.text == text } }
      #expect(ages == ages.sorted(by: >), "\(ages)")
      #expect(Set(rig.channel.sent.map(\.identifier)).count == 5)
    }
  }

  @Test("while a lane is out, one push at a time asks whether it is back")
  func probes() async throws {
    try await Chat.run(of: 40, configure: Self.quick) { rig, chat, reactor in
      rig.channel.answer = { _, _ in .unreachable }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: id, on: reactor)
      let first = rig.channel.sent.count
      rig.channel.holds = true
      try await rig.channel.received(first + 1, on: reactor)
      for _ in 0..<20 {
        rig.pipeline.wake(.webhook, on: reactor)
        _ = try await rig.value("select 1", as: Int32.self, on: reactor)
      }
      #expect(rig.channel.sent.count == first + 1)
      rig.channel.answer = { _, _ in .accepted }
      rig.channel.release(on: reactor)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("an outage of one environment concerns nobody in the other")
  func otherLane() async throws {
    try await Chat.run(of: 2, configure: Self.quick) { rig, chat, reactor in
      try await rig.execute(
        "update public.push_tokens set environment = 'sandbox' where user_id = '\(chat.recipients[1])'", on: reactor)
      rig.channel.answer = { push, _ in push.environment == .sandbox ? .unreachable : .accepted }
      rig.start(on: reactor)
      for _ in 0..<5 {
        let id = try await chat.post(waking: .webhook, on: reactor)
        let outcomes = try await rig.outcomes(of: id, on: reactor)
        let decisions = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.userID, $0.decision) })
        #expect(decisions == [chat.recipients[0]: .sent, chat.recipients[1]: .held])
      }
    }
  }

  @Test("a message that was tried and is older than its life when APNs is back has failed, and is not sent")
  func expired() async throws {
    try await Chat.run(configure: Self.quick) { rig, chat, reactor in
      let isBack = Flag()
      rig.channel.answer = { _, _ in isBack.isSet ? .accepted : .unreachable }
      rig.start(on: reactor)
      let old = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: old, on: reactor)
      try await rig.execute(
        "update tacet.deliveries set enqueued_at = enqueued_at - interval '3601 s'", on: reactor)
      let new = try await chat.post(waking: .webhook, on: reactor)
      isBack.isSet = true
      try await rig.nothingLeft(on: reactor)
      let outcomes = try await rig.outcomes(of: old, on: reactor)
      #expect(outcomes.map(\.decision) == [.failed])
      #expect(outcomes.map(\.reason) == ["apns_unreachable"])
      #expect(try await rig.outcomes(of: new, on: reactor).map(\.decision) == [.sent])
    }
  }

  @Test(
    "what waited for longer than its life has failed if it was tried, and expired if not, also while the outage lasts")
  func expiredMeanwhile() async throws {
    let patient: @Sendable (inout PipelineConfiguration) -> Void = {
      $0.lanes.breaker = .quick
      $0.lanes.breaker.outage.shortest = .seconds(600)
      $0.lanes.breaker.outage.longest = .seconds(600)
    }
    try await Chat.run(configure: patient) { rig, chat, reactor in
      rig.channel.answer = { _, _ in rig.channel.sent.count > 1 ? .accepted : .busy }
      rig.start(on: reactor)
      let tried = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: tried, on: reactor)
      let untried = try await chat.post(waking: .webhook, on: reactor)
      _ = try await rig.outcomes(of: untried, on: reactor)
      #expect(rig.channel.sent.count == 1)
      let aged = """
        update tacet.deliveries set enqueued_at = enqueued_at - interval '3601 s', due_at = now() + interval '1 h'
        where not is_claimed
        """
      try await rig.until("aged", on: reactor) {
        try await rig.execute(aged, on: reactor)
        return try await rig.value(Self.ages, as: Int64.self, on: reactor) == 2
      }
      await Rescuer(for: rig.pipeline).look(on: reactor)
      let failed = try await rig.outcomes(of: tried, on: reactor) { $0.first?.decision != .held }
      #expect(failed.map(\.decision) == [.failed])
      #expect(failed.map(\.reason) == ["ServiceUnavailable"])
      let expired = try await rig.outcomes(of: untried, on: reactor) { $0.first?.decision != .held }
      #expect(expired.map(\.decision) == [.skipped])
      #expect(expired.map(\.reason) == ["expired"])
    }
  }

  private static let ages = "select count(*) from tacet.deliveries where enqueued_at < now() - interval '1 h'"
}

@Suite("A lane that is asked about the other environment's tokens")
struct LaneTrialTests {
  /// What may become of a trial, in words that can be compared.
  private enum Admission: Equatable {
    case admitted, impossible
    case notNow(String?)
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
  private func ask(_ attempt: APNSOutcome, over lane: Lane, at now: UInt64 = 0) -> Admission {
    let admission = admit(to: lane, at: now)
    if admission == .admitted { _ = lane.concludeTrial(attempt, now: now, draw: 0.5) }
    return admission
  }

  @Test(
    "one that is refused because the credential is not for this environment is not made again, and is no fault",
    arguments: [
      APNSOutcome.answered(403, "BadEnvironmentKeyInToken"), .answered(403, "BadEnvironmentKeyIdInToken"),
      .answered(403, "BadCertificateEnvironment"), .refused("BadEnvironmentKeyInToken"),
      .refused("BadCertificateEnvironment"),
    ])
  func otherKey(_ attempt: APNSOutcome) {
    let lane = Lane.new()
    #expect(ask(attempt, over: lane) == .admitted)
    #expect(lane.fault == nil)
    #expect(ask(attempt, over: lane) == .impossible)
    send(.accepted, over: lane)
    #expect(admit(to: lane) == .admitted, "the credential is right now")
  }

  @Test(
    "one that meets any other fault is made again, until five of a second have shut the lane",
    arguments: [
      APNSOutcome.badKey, .answered(407, nil), .answered(301, nil), .refused("InvalidProviderToken"), .unreachable,
      .broken,
    ])
  func sporadicFault(_ attempt: APNSOutcome) {
    let lane = Lane.new()
    for number in 0..<5 { #expect(ask(attempt, over: lane, at: UInt64(number) * Lane.second) == .admitted) }
    #expect(lane.fault == attempt.reason)
    #expect(admit(to: lane, at: 4 * Lane.second) == .notNow(attempt.reason))
  }

  @Test("the refusals of trials do not count against the lane's own tokens")
  func trialsOfStrangers() {
    let lane = Lane.new()
    send(.accepted, over: lane)
    for _ in 0..<100 { ask(.refused, over: lane) }
    #expect(send(.refused, over: lane) == .dead(reason: "BadDeviceToken", sinceMilliseconds: nil))
    #expect(lane.fault == nil)
  }

  @Test("a lane that is shut for its settings is no place for trials; one that is out is probed by them")
  func trialsOfShutLanes() {
    let refused = Lane.new()
    send(.badKey, over: refused)
    #expect(admit(to: refused, at: 3600 * Lane.second) == .notNow("InvalidProviderToken"))
    let out = Lane.new()
    for number in 0..<5 { send(.answerLost, over: out, at: UInt64(number) * Lane.second) }
    #expect(admit(to: out, at: 4 * Lane.second) == .notNow("apns_answer_lost"))
    #expect(admit(to: out, at: 60 * Lane.second) == .admitted)
    #expect(out.concludeTrial(.refused, now: 60 * Lane.second, draw: 0.5))
    #expect(out.fault == nil)
  }

  @Test("one that finds APNs back and its credential for the other environment alone opens the lane, and is the last")
  func otherKeyAfterOutage() {
    let lane = Lane.new()
    for number in 0..<5 { ask(.unreachable, over: lane, at: UInt64(number) * Lane.second) }
    #expect(lane.fault == "apns_unreachable")
    #expect(ask(.answered(403, "BadEnvironmentKeyInToken"), over: lane, at: 60 * Lane.second) == .admitted)
    #expect(lane.fault == nil)
    #expect(admit(to: lane, at: 60 * Lane.second) == .impossible)
  }

  @Test("a lane that only trials have shut for its settings is probed by trials, or nobody would ever open it")
  func shutByTrials() {
    let lane = Lane.new()
    for number in 0..<5 { ask(.badKey, over: lane, at: UInt64(number) * Lane.second) }
    #expect(lane.fault == "InvalidProviderToken")
    #expect(ask(.badKey, over: lane, at: 60 * Lane.second) == .admitted)
    #expect(ask(.accepted, over: lane, at: 61 * Lane.second) == .notNow("InvalidProviderToken"))
    #expect(ask(.accepted, over: lane, at: 120 * Lane.second) == .admitted)
    #expect(lane.fault == nil)
  }

  @Test("none is made where a push of the lane's own has been told that the credential is not for this environment")
  func otherKeyOfOwn() {
    let lane = Lane.new()
    send(.answered(403, "BadEnvironmentKeyInToken"), over: lane)
    #expect(lane.fault == "BadEnvironmentKeyInToken")
    #expect(admit(to: lane, at: 3600 * Lane.second) == .impossible)
    #expect(send(.accepted, over: lane, at: 3600 * Lane.second) == .accepted)
    #expect(admit(to: lane, at: 3600 * Lane.second) == .admitted)
  }

  @Test("trials that shut a lane leave nobody waiting for it; a push of its own does, until the lane is open")
  func waitedFor() {
    let lane = Lane.new()
    for number in 0..<5 { ask(.unreachable, over: lane, at: UInt64(number) * Lane.second) }
    #expect(lane.fault != nil && !lane.isWaitedFor)
    send(.accepted, over: lane, at: 4 * Lane.second)
    #expect(lane.isWaitedFor, "it was turned away")
    ask(.refused, over: lane, at: 60 * Lane.second)
    #expect(lane.fault == nil && !lane.isWaitedFor)
    send(.badKey, over: lane, at: 61 * Lane.second)
    #expect(lane.fault != nil && lane.isWaitedFor)
    send(.limited, over: lane, at: 120 * Lane.second)
    #expect(lane.fault != nil && lane.isWaitedFor, "others still wait")
    send(.accepted, over: lane, at: 240 * Lane.second)
    #expect(lane.fault == nil && !lane.isWaitedFor)
  }
}
