import Channels
import FoundationEssentials
import Logging
import Postgres
import PushRules
import PushStore
import Reactors
import TestLogs
import TestPostgres
import Testing

@testable import PushPipeline

@Suite("The pipeline under load and failure", .serialized)
struct DeliveryPipelineLoadTests {
  @Test("five hundred messages at once are all sent and recorded, each once")
  func burst() async throws {
    try await Chat.run { rig, chat, reactor in
      rig.start(on: reactor)
      try await chat.post(500, on: reactor)
      rig.pipeline.wake(.webhook, on: reactor)
      try await rig.channel.received(500, on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 500)
      #expect(Set(rig.channel.sent.map(\.identifier)).count == 500)
      let sent = "select count(*) from tacet.push_log where decision = 'sent' and devices_accepted = 1"
      #expect(try await rig.value(sent, as: Int64.self, on: reactor) == 500)
      #expect(await rig.pipeline.drain(within: .seconds(60), on: reactor))
      #expect(rig.outcomes(.sent) == 500)
    }
  }

  @Test("pushes that await their answers are never more than the bound; the rest waits in the database")
  func capacity() async throws {
    try await Chat.run(configure: { $0.pushesInFlightMax = 8 }) { rig, chat, reactor in
      rig.channel.holds = true
      try await chat.post(50, on: reactor)
      rig.start(on: reactor)
      try await rig.channel.received(8, on: reactor)
      let waiting = "select count(*) from tacet.inbox where attempts = 0"
      #expect(try await rig.value(waiting, as: Int64.self, on: reactor) == 42)
      for number in 9...50 {
        rig.channel.release(1, on: reactor)
        try await rig.channel.received(number, on: reactor)
      }
      #expect(rig.channel.mostInFlight == 8)
    }
  }

  @Test("what APNs has accepted counts as well until it is recorded")
  func capacityUntilRecorded() async throws {
    try await Chat.run(configure: { $0.pushesInFlightMax = 8 }) { rig, chat, reactor in
      try await chat.post(50, on: reactor)
      try await rig.pool.withConnection(on: reactor) { locker in
        // Claims read the ledger, which this lock allows; records write it, which it does not.
        try await locker.simple("begin; lock table tacet.push_log in share row exclusive mode", on: reactor)
        rig.start(on: reactor)
        try await rig.channel.received(8, on: reactor)
        for _ in 0..<50 {
          rig.pipeline.wake(.webhook, on: reactor)
          _ = try await rig.value("select 1", as: Int32.self, on: reactor)
        }
        #expect(rig.channel.sent.count == 8)
        try await locker.simple("commit", on: reactor)
      }
      try await rig.channel.received(50, on: reactor)
    }
  }

  @Test("a drain waits until what was claimed is recorded, and claims nothing more", .timeLimit(.minutes(5)))
  func drain() async throws {
    try await Chat.run { rig, chat, reactor in
      rig.channel.holds = true
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      try await rig.channel.received(1, on: reactor)
      #expect(await rig.pipeline.drain(within: .milliseconds(1), on: reactor) == false)
      // A claim that was on its way when the drain began may still find what is posted now.
      while !rig.pipeline.isStopped { _ = try await rig.value("select 1", as: Int32.self, on: reactor) }
      try await chat.post(on: reactor)
      rig.pipeline.wake(.webhook, on: reactor)
      rig.channel.release(on: reactor)
      #expect(await rig.pipeline.drain(within: .seconds(60), on: reactor))
      let status = try await rig.store.status(of: .message(id), on: reactor)
      guard case .decided(let outcomes) = status else { throw TestFailure("\(status)") }
      #expect(outcomes.map(\.decision) == [.sent])
      #expect(rig.channel.sent.count == 1)
      #expect(try await rig.value("select count(*) from tacet.inbox", as: Int64.self, on: reactor) == 1)
    }
  }

  @Test("a database that restarts while pushes are under way loses none and repeats none")
  func restart() async throws {
    let server = try await TestPostgres.launch(isDurable: true)
    try await Chat.run(on: server) { rig, chat, reactor in
      rig.channel.holds = true
      rig.start(on: reactor)
      try await chat.post(20, on: reactor)
      rig.pipeline.wake(.webhook, on: reactor)
      try await rig.channel.received(20, on: reactor)
      try await server.stop()
      rig.channel.release(on: reactor)
      rig.pipeline.wake(.webhook, on: reactor)
      try await server.start()
      try await postWhenBack(20, in: chat, on: reactor)
      try await rig.channel.received(40, on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 40)
      #expect(Set(rig.channel.sent.map(\.identifier)).count == 40)
      let sent = "select count(*) from tacet.push_log where decision = 'sent'"
      #expect(try await rig.value(sent, as: Int64.self, on: reactor) == 40)
    }
  }

  /// The first statements after a restart find no session yet.
  private func postWhenBack(_ count: Int, in chat: Chat, on reactor: isolated Reactor) async throws {
    for _ in 0..<300 {
      do {
        try await chat.post(count, on: reactor)
        return
      } catch is PostgresError {
        await reactor.sleep(for: .milliseconds(100))
      }
    }
    throw TestFailure("the database did not come back")
  }

  @Test("a claim that its owner never recorded is sent again by the next, under the same identifiers")
  func leaseRunsOut() async throws {
    try await Chat.run(configure: { $0.lease = .seconds(30) }) { rig, chat, reactor in
      let id = try await chat.post(on: reactor)[0]
      let lost = try await rig.store.claim(
        ClaimLimits(eventsMax: 9, deliveriesMax: 9, lease: .milliseconds(50)), on: reactor)
      #expect(lost.map(\.subject) == [.message(id)])
      rig.start(on: reactor)
      _ = try await rig.outcomes(of: id, on: reactor)
      #expect(rig.channel.sent.count == 1)
      #expect(try await rig.value("select attempts::int from tacet.push_log", as: Int32.self, on: reactor) == 2)
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test("the observer hears of the beginning and the end of busy times")
  func observer() async throws {
    try await PipelineRig.run(
      configure: {
        $0.eventsPerClaimMax = 10
        $0.schedule.busyEvents = 10
        $0.schedule.calmEvents = 4
        $0.schedule.measure = .milliseconds(20)
      },
      { rig, reactor in
        let observer = RecordingObserver()
        rig.pipeline.observer = observer
        let chat = try await Chat(in: rig, on: reactor)
        try await chat.post(15, on: reactor)
        rig.start(on: reactor)
        try await observer.heard([true, false], on: reactor)
        try await rig.nothingLeft(on: reactor)
      })
  }
}

/// Keeps what a pipeline tells its observer.
private final class RecordingObserver: DeliveryPipelineObserver {
  private var busy: [Bool] = []
  private let changed = Signal()

  func pipelineAsksForNotifyCost(on reactor: isolated Reactor) {}

  func pipelineOwnershipChanged(on reactor: isolated Reactor) {}

  func pipelineBusyChanged(_ isBusy: Bool, on reactor: isolated Reactor) {
    busy.append(isBusy)
    changed.signal(on: reactor)
  }

  func heard(_ expected: [Bool], on reactor: isolated Reactor) async throws {
    while busy != expected {
      guard await changed.wait(for: patience, on: reactor) else { throw TestFailure("heard \(busy)") }
    }
  }
}

@Suite("What a push leaves in the log", .serialized)
struct OneLineTests {
  @Test("is one line at info, with its ids, however often it was held and tried before")
  func walk() async throws {
    let lines = LogLines()
    try await PipelineRig.run(window: .seconds(600), logger: lines.logger, configure: { $0.lanes.breaker = .quick }) {
      rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.channel.answer = { _, number in number == 1 ? .broken : .accepted }
      rig.start(on: reactor)
      try await chat.see(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      try await rig.execute(
        "update public.conversation_participants set tacet_left_at = clock_timestamp() where user_id = '\(chat.recipients[0])'",
        on: reactor)
      rig.pipeline.wake(.due, on: reactor)
      _ = try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 2)
      let decided = lines.all.filter { $0.message == "push decided" }
      #expect(decided.map { $0.metadata["decision"] } == ["held", "held", "sent"])
      #expect(decided.map { $0.metadata["reason"] } == ["user_viewing", "InternalServerError", ""])
      #expect(decided.map(\.level) == [.debug, .debug, .info])
      #expect(decided.allSatisfy { $0.metadata["subject_id"] == id.text })
      #expect(decided.allSatisfy { $0.metadata["user_id"] == chat.recipients[0].text })
      let ofPushes = lines.all.filter { $0.level >= .info && $0.metadata["subject_id"] != nil }
      #expect(ofPushes.map(\.message) == ["push decided"])
    }
  }

  @Test("is one line at info when one of two devices got it later")
  func twoDevices() async throws {
    let lines = LogLines()
    try await PipelineRig.run(logger: lines.logger) { rig, reactor in
      let chat = try await Chat(devices: ["aa", "bb"], in: rig, on: reactor)
      let isMended = Flag()
      rig.channel.answer = { push, _ in push.token == "00bb" && !isMended.isSet ? .broken : .accepted }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      isMended.isSet = true
      try await rig.nothingLeft(on: reactor)
      #expect(lines.all.filter { $0.message == "push decided" }.map(\.level).sorted().last == .info)
      #expect(lines.all.count { $0.message == "push decided" && $0.level == .info } == 1)
    }
  }
}
