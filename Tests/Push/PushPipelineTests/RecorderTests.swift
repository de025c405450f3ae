import Postgres
import PushRules
import PushStore
import Reactors
import TestPostgres
import Testing

@testable import PushPipeline

@Suite("The recorder")
struct RecorderTests {
  /// Claims messages and decides them all as sent.
  private func decided(
    _ count: Int, in chat: Chat, of rig: PipelineRig, on reactor: isolated Reactor
  ) async throws -> [DecidedEvent] {
    try await chat.post(count, on: reactor)
    let events = try await rig.store.claim(
      ClaimLimits(eventsMax: count, deliveriesMax: 0, lease: .seconds(30)), on: reactor)
    return events.map { event in
      let outcomes = event.recipients.map {
        RecipientOutcome(userID: $0.userID, decision: .sent, acceptedDevices: $0.targets.map(\.address))
      }
      return DecidedEvent(event: event, outcomes: outcomes, deadTargets: [], wokenBy: "webhook")
    }
  }

  @Test("what is decided in one tick is written in one statement, and what comes meanwhile in the next")
  func batches() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let events = try await decided(30, in: chat, of: rig, on: reactor)
      let owner = RecordingOwner()
      let recorder = Recorder(store: rig.store, logger: .quiet, owner: owner)
      for event in events[..<20] { recorder.add(event, on: reactor) }
      recorder.tickEnded(on: reactor)
      for event in events[20...] { recorder.add(event, on: reactor) }
      try await owner.recorded(30, on: reactor)
      #expect(owner.batches == [20, 10] || owner.batches == [30])
      #expect(try await rig.value("select count(*) from tacet.inbox", as: Int64.self, on: reactor) == 0)
    }
  }

  @Test("what follows a write closely is gathered for the next, unless somebody waits for it")
  func pace() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let events = try await decided(7, in: chat, of: rig, on: reactor)
      let owner = RecordingOwner()
      let recorder = Recorder(store: rig.store, logger: .quiet, owner: owner)
      recorder.add(events[0], on: reactor)
      try await owner.recorded(1, on: reactor)
      for event in events[1...2] { recorder.add(event, isUrgent: true, on: reactor) }
      try await owner.recorded(3, on: reactor)
      for event in events[3...4] {
        recorder.add(event, on: reactor)
        recorder.tickEnded(on: reactor)
      }
      try await owner.recorded(5, on: reactor)
      recorder.add(events[5], on: reactor)
      recorder.add(events[6], on: reactor)
      recorder.hurry(on: reactor)
      try await owner.recorded(7, on: reactor)
      #expect(owner.batches == [1, 2, 2, 2])
    }
  }

  @Test("a statement holds at most a thousand events")
  func largeBatch() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let events = try await decided(1001, in: chat, of: rig, on: reactor)
      let owner = RecordingOwner()
      let recorder = Recorder(store: rig.store, logger: .quiet, owner: owner)
      for event in events { recorder.add(event, on: reactor) }
      try await owner.recorded(1001, on: reactor)
      #expect(owner.batches == [1000, 1])
    }
  }

  @Test("the same event decided twice is written in two statements, because one cannot touch a row twice")
  func twice() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let event = try #require(try await decided(1, in: chat, of: rig, on: reactor).first)
      let owner = RecordingOwner()
      let recorder = Recorder(store: rig.store, logger: .quiet, owner: owner)
      for _ in 0..<3 { recorder.add(event, on: reactor) }
      try await owner.recorded(3, on: reactor)
      #expect(owner.batches == [1, 1, 1])
      #expect(try await rig.value("select count(*) from tacet.push_log", as: Int64.self, on: reactor) == 1)
    }
  }

  @Test("one event that the database refuses takes no other down with it, and is parked with the reason")
  func poison() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      var events = try await decided(10, in: chat, of: rig, on: reactor)
      // PostgreSQL's text holds no zero byte.
      let refused = RecipientOutcome(userID: chat.recipients[0], decision: .skipped, reason: "a\u{0}b")
      events[4] = DecidedEvent(event: events[4].event, outcomes: [refused], deadTargets: [], wokenBy: "webhook")
      let owner = RecordingOwner()
      let recorder = Recorder(store: rig.store, logger: .quiet, owner: owner)
      for event in events { recorder.add(event, on: reactor) }
      try await owner.recorded(9, on: reactor)
      #expect(owner.parked == [events[4].event.subject])
      #expect(try await rig.value("select count(*) from tacet.push_log", as: Int64.self, on: reactor) == 9)
      #expect(try await rig.value("select count(*) from tacet.inbox", as: Int64.self, on: reactor) == 0)
      #expect(try await rig.value("select count(*) from tacet.parked", as: Int64.self, on: reactor) == 1)
    }
  }

  @Test("what is learnt about a token may be refused, what was sent is recorded all the same")
  func refusedFindings() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let event = try #require(try await decided(1, in: chat, of: rig, on: reactor).first)
      try await rig.execute(
        """
        alter table public.push_tokens add constraint host_rule check (environment is null and invalidated_at is null)
        """, on: reactor)
      let token = try #require(event.outcomes[0].acceptedDevices.first)
      let finding =
        DecidedEvent(
          event: event.event, outcomes: event.outcomes,
          deadTargets: [DeadTarget(address: token, reason: "Unregistered", invalidSince: event.event.claimedAt)],
          wokenBy: "webhook")
      let owner = RecordingOwner()
      let recorder = Recorder(store: rig.store, logger: .quiet, owner: owner)
      recorder.add(finding, on: reactor)
      try await owner.recorded(1, on: reactor)
      #expect(owner.parked.isEmpty)
      let sent = "select count(*) from tacet.push_log where decision = 'sent'"
      #expect(try await rig.value(sent, as: Int64.self, on: reactor) == 1)
    }
  }

  @Test("a record is tried until the database takes it, far beyond the lease")
  func databaseAway() async throws {
    let server = try await TestPostgres.launch()
    try await PipelineRig.run(on: server) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let events = try await decided(3, in: chat, of: rig, on: reactor)
      try await server.stop()
      let owner = RecordingOwner()
      let recorder = Recorder(store: rig.store, logger: .quiet, owner: owner)
      for event in events { recorder.add(event, on: reactor) }
      try await server.start()
      try await owner.recorded(3, on: reactor)
      #expect(try await rig.value("select count(*) from tacet.push_log", as: Int64.self, on: reactor) == 3)
    }
  }

  @Test("what a crash of the server has forgotten is recorded again, and what is too old for that is not")
  func forgotten() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let events = try await decided(3, in: chat, of: rig, on: reactor)
      let owner = RecordingOwner()
      let recorder = Recorder(store: rig.store, logger: .quiet, owner: owner)
      try await rig.execute("create table public.kept as select * from tacet.inbox", on: reactor)
      for event in events[..<2] { recorder.add(event, on: reactor) }
      try await owner.recorded(2, on: reactor)
      try await rig.execute(
        "delete from tacet.push_log; delete from tacet.inbox; insert into tacet.inbox select * from public.kept",
        on: reactor)
      recorder.repeatRecent(lostAt: Reactor.now, on: reactor)
      try await owner.recorded(4, on: reactor)
      #expect(owner.batches == [2, 2] && owner.purposes == [.record, .record, .again, .again])
      #expect(try await rig.value("select count(*) from tacet.push_log", as: Int64.self, on: reactor) == 2)
      #expect(try await rig.value("select count(*) from tacet.inbox", as: Int64.self, on: reactor) == 1)
      recorder.repeatRecent(lostAt: Reactor.now + 1_000_000_000, on: reactor)
      var part = events[2]
      part.purpose = .part
      recorder.add(part, on: reactor)
      try await owner.recorded(5, on: reactor)
      recorder.repeatRecent(lostAt: Reactor.now, on: reactor)
      try await owner.recorded(6, on: reactor)
      #expect(owner.purposes[4...] == [.part, .part])
      #expect(try await rig.value("select count(*) from tacet.inbox", as: Int64.self, on: reactor) == 1)
    }
  }

  @Test("who gives up writes nothing more")
  func givesUp() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let events = try await decided(1, in: chat, of: rig, on: reactor)
      let owner = RecordingOwner()
      let recorder = Recorder(store: rig.store, logger: .quiet, owner: owner)
      recorder.giveUp()
      recorder.add(events[0], on: reactor)
      recorder.tickEnded(on: reactor)
      try await rig.execute("select 1", on: reactor)
      #expect(owner.batches.isEmpty)
      #expect(try await rig.value("select count(*) from tacet.inbox", as: Int64.self, on: reactor) == 1)
    }
  }
}

/// Keeps the sizes of the batches that left the recorder.
private final class RecordingOwner: RecorderOwner {
  private(set) var batches: [Int] = []
  private(set) var purposes: [DecidedEvent.Purpose] = []
  private(set) var parked: [PushSubject] = []
  private let changed = Signal()

  func recorded(_ events: [DecidedEvent], on reactor: isolated Reactor) {
    batches.append(events.count)
    purposes += events.map(\.purpose)
    changed.signal(on: reactor)
  }

  func setAside(_ decided: DecidedEvent, on reactor: isolated Reactor) {
    parked.append(decided.event.subject)
  }

  func recorded(_ count: Int, on reactor: isolated Reactor) async throws {
    while batches.reduce(0, +) < count {
      guard await changed.wait(for: .seconds(10), on: reactor) else { throw TestFailure("recorded \(batches)") }
    }
  }
}
