import Postgres
import PushRules
import Reactors
import TestPostgres
import Testing

@testable import PushPipeline
@testable import PushStore

@Suite("The recorder")
struct RecorderTests {
  /// Claims messages and decides them all as sent; a recorder that may write them, and its owner.
  private func decided(
    _ count: Int, in chat: Chat, of rig: PipelineRig, on reactor: isolated Reactor
  ) async throws -> (events: [DecidedEvent], owner: RecordingOwner, recorder: Recorder) {
    try await chat.post(count, on: reactor)
    let events = try await rig.store.claim(
      ClaimLimits(eventsMax: count, deliveriesMax: 0, lease: .seconds(30)), on: reactor)
    let decided = events.map { event in
      let outcomes = event.recipients.map {
        RecipientOutcome(userID: $0.userID, decision: .sent, acceptedDevices: $0.targets.map(\.address))
      }
      return DecidedEvent(event: event, outcomes: outcomes, deadTargets: [], wokenBy: "webhook")
    }
    let owner = RecordingOwner()
    return (decided, owner, Recorder(store: rig.store, logger: .quiet, owner: owner))
  }

  @Test("what is decided in one tick is written in one statement, and what comes meanwhile in the next")
  func batches() async throws {
    try await Chat.run { rig, chat, reactor in
      let (events, owner, recorder) = try await decided(30, in: chat, of: rig, on: reactor)
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
    try await Chat.run { rig, chat, reactor in
      let (events, owner, recorder) = try await decided(7, in: chat, of: rig, on: reactor)
      recorder.add(events[0], on: reactor)
      try await owner.recorded(1, on: reactor)
      let urgent = Reactor.now
      for event in events[1...2] { recorder.add(event, isUrgent: true, on: reactor) }
      try await owner.recorded(3, on: reactor)
      for event in events[3...4] {
        recorder.add(event, on: reactor)
        recorder.tickEnded(on: reactor)
      }
      let isClose = Reactor.now - urgent < 25_000_000
      try await owner.recorded(5, on: reactor)
      recorder.add(events[5], on: reactor)
      recorder.add(events[6], on: reactor)
      recorder.hurry(on: reactor)
      try await owner.recorded(7, on: reactor)
      // Where the write itself took longer than the pace, what came then did not follow it closely.
      #expect(
        owner.batches == (isClose ? [1, 2, 2, 2] : [1, 2, 1, 1, 2]) || !isClose && owner.batches == [1, 2, 2, 2])
    }
  }

  @Test("a statement holds at most a thousand events")
  func largeBatch() async throws {
    try await Chat.run { rig, chat, reactor in
      let (events, owner, recorder) = try await decided(1001, in: chat, of: rig, on: reactor)
      for event in events { recorder.add(event, on: reactor) }
      try await owner.recorded(1001, on: reactor)
      #expect(owner.batches == [1000, 1])
    }
  }

  @Test("the same event decided twice is written in two statements, because one cannot touch a row twice")
  func twice() async throws {
    try await Chat.run { rig, chat, reactor in
      let (events, owner, recorder) = try await decided(1, in: chat, of: rig, on: reactor)
      let event = events[0]
      for _ in 0..<3 { recorder.add(event, on: reactor) }
      try await owner.recorded(3, on: reactor)
      #expect(owner.batches == [1, 1, 1])
      #expect(try await rig.value("select count(*) from tacet.push_log", as: Int64.self, on: reactor) == 1)
    }
  }

  @Test("one event that the database refuses takes no other down with it, and is parked with the reason")
  func poison() async throws {
    try await Chat.run { rig, chat, reactor in
      let (healthy, owner, recorder) = try await decided(10, in: chat, of: rig, on: reactor)
      var events = healthy
      // PostgreSQL's text holds no zero byte.
      let refused = RecipientOutcome(userID: chat.recipients[0], decision: .skipped, reason: "a\u{0}b")
      events[4] = DecidedEvent(event: events[4].event, outcomes: [refused], deadTargets: [], wokenBy: "webhook")
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
    try await Chat.run { rig, chat, reactor in
      let (events, owner, recorder) = try await decided(1, in: chat, of: rig, on: reactor)
      let event = events[0]
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
    try await Chat.run(on: server) { rig, chat, reactor in
      let (events, owner, recorder) = try await decided(3, in: chat, of: rig, on: reactor)
      try await server.stop()
      for event in events { recorder.add(event, on: reactor) }
      try await server.start()
      try await owner.recorded(3, on: reactor)
      #expect(try await rig.value("select count(*) from tacet.push_log", as: Int64.self, on: reactor) == 3)
    }
  }

  @Test("what a crash of the server has forgotten is recorded again, and what is too old for that is not")
  func forgotten() async throws {
    try await Chat.run { rig, chat, reactor in
      let (events, owner, recorder) = try await decided(3, in: chat, of: rig, on: reactor)
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
    try await Chat.run { rig, chat, reactor in
      let (events, owner, recorder) = try await decided(1, in: chat, of: rig, on: reactor)
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
      guard await changed.wait(for: patience, on: reactor) else { throw TestFailure("recorded \(batches)") }
    }
  }
}

@Suite("An event's progress")
struct EventProgressTests {
  private func progress(_ event: PushEvent, wokenBy cause: WakeCause = .webhook) -> EventProgress {
    let now = Reactor.now
    return EventProgress(event, wokenBy: cause, wokenAt: now - 3_000_000, askedAt: now, claimedAt: now)
  }

  @Test("an event without recipients is decided from the start")
  func nobody() {
    let progress = progress(PushFixtures.event(recipients: []))
    #expect(progress.isDecided)
    #expect(progress.decided.outcomes.isEmpty)
    #expect(progress.decided.wokenBy == "webhook")
  }

  @Test("it is decided when the last device of the last recipient has reported")
  func lastDevice() {
    let both = [PushFixtures.phone, PushFixtures.tablet]
    let recipients = [
      PushFixtures.recipient(PushFixtures.makeID(8), devices: both), PushFixtures.recipient(PushFixtures.makeID(9)),
    ]
    let progress = progress(PushFixtures.event(recipients: recipients))
    progress.begin(0)
    progress.settle(RecipientOutcome(userID: PushFixtures.makeID(9), decision: .skipped, reason: "muted"), of: 1)
    #expect(!progress.isDecided)
    progress.add(.accepted, for: both[0], of: 0)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    #expect(!progress.isDecided)
    progress.add(.dead(reason: "Unregistered", sinceMilliseconds: nil), for: both[1], of: 0)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    #expect(progress.isDecided)
    #expect(progress.decided.outcomes.map(\.decision) == [.skipped, .sent])
    #expect(progress.decided.deadTargets.map(\.address) == ["BB02"])
  }

  @Test("a part has those accepted since the last one, with nothing left to do")
  func parts() {
    let recipients = (8...10).map { PushFixtures.recipient(PushFixtures.makeID($0)) }
    let progress = progress(PushFixtures.event(recipients: recipients))
    #expect(progress.nextPart() == nil)
    for index in recipients.indices { progress.begin(index) }
    progress.add(.accepted, for: PushFixtures.phone, of: 1)
    progress.finishIfComplete(1, pacing: PushFixtures.pacing)
    progress.add(.postponed(reason: "Shutdown", minimum: .zero), for: PushFixtures.phone, of: 0)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    let part = progress.nextPart()
    #expect(part?.purpose == .part && part?.outcomes.map(\.userID) == [PushFixtures.makeID(9)])
    #expect(progress.nextPart() == nil)
    progress.add(.accepted, for: PushFixtures.phone, of: 2)
    progress.finishIfComplete(2, pacing: PushFixtures.pacing)
    #expect(progress.isDecided && progress.decided.purpose == .record && progress.decided.outcomes.count == 3)
  }

  @Test("what was learnt of a recipient's tokens goes with the event")
  func learnt() {
    let progress = progress(PushFixtures.event())
    progress.begin(0)
    progress.add(.acceptedElsewhere(environment: "sandbox"), for: PushFixtures.phone, of: 0)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    #expect(
      progress.decided.learntEnvironments == [
        LearntEnvironment(target: PushFixtures.phone, environment: "sandbox", readAt: 1_700_000_001_000_000)
      ])
  }

  @Test("a recipient is closed once, however often it is asked for")
  func closedOnce() {
    let progress = progress(PushFixtures.event())
    progress.begin(0)
    progress.add(.refused(reason: "deviceTokenMalformed"), for: PushFixtures.phone, of: 0)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    progress.add(.accepted, for: PushFixtures.phone, of: 0)
    #expect(progress.decided.outcomes.map(\.reason) == ["deviceTokenMalformed"])
  }

  @Test("times count from the wake-up to the claim, and from the claim on")
  func times() throws {
    let progress = progress(PushFixtures.event())
    progress.begin(0)
    progress.add(.accepted, for: PushFixtures.phone, of: 0)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    let outcome = try #require(progress.decided.outcomes.first)
    #expect(outcome.wokenMicroseconds == 3000)
    let accepted = try #require(outcome.acceptedMicroseconds)
    #expect(outcome.decidedMicroseconds >= 0)
    #expect(outcome.decidedMicroseconds <= accepted)
  }

  @Test("what the claim's look has taken is part of what is recorded, because the claim is dated at its beginning")
  func look() throws {
    let hour: Int64 = 3_600_000_000
    let event = PushFixtures.dated(
      origin: .inbox, kind: "message", claimedAfter: 1000, answeredAfter: 1000 + hour,
      recipients: [PushFixtures.recipient()])
    let progress = progress(event)
    for index in event.recipients.indices {
      progress.begin(index)
      progress.add(.accepted, for: PushFixtures.phone, of: index)
      progress.finishIfComplete(index, pacing: PushFixtures.pacing)
    }
    let outcome = try #require(progress.decided.outcomes.first)
    #expect(outcome.decidedMicroseconds >= hour)
    #expect(try #require(outcome.acceptedMicroseconds) >= hour)
    #expect(outcome.deviceAttempts.allSatisfy { $0.endedMicroseconds >= hour })
    #expect(outcome.wokenMicroseconds == 3000)
  }
}

@Suite("Events that keep accepted recipients waiting", .serialized)
struct SlowEventsTests {
  private static let sent = "select count(*) from tacet.push_log where decision = 'sent'"

  /// Posts to three, of whom two are accepted while the third is on its way, and waits until the two stand in the ledger.
  private func acceptTwo(of rig: PipelineRig, on reactor: isolated Reactor) async throws {
    let chat = try await Chat(of: 3, in: rig, on: reactor)
    rig.channel.holds = true
    rig.start(on: reactor)
    _ = try await chat.post(waking: .webhook, on: reactor)
    try await rig.channel.received(3, on: reactor)
    rig.channel.release(2, on: reactor)
    try await rig.await(Int64(2), of: Self.sent, on: reactor)
  }

  @Test("who has accepted stands in the ledger before the last one is decided, and is counted once")
  func early() async throws {
    try await PipelineRig.run { rig, reactor in
      try await acceptTwo(of: rig, on: reactor)
      // Taken as a new message, or leased by the pipeline's first look.
      let inHand = "select count(*) from tacet.inbox where attempts = is_claimed::int"
      #expect(try await rig.value(inHand, as: Int64.self, on: reactor) == 1)
      #expect(rig.outcomes(.sent) == 0)
      rig.channel.release(on: reactor)
      #expect(await rig.pipeline.drain(within: .seconds(60), on: reactor))
      try await rig.nothingLeft(on: reactor)
      #expect(rig.outcomes(.sent) == 3)
      let entries = "select string_agg(jsonb_array_length(history)::text, ' ') from tacet.push_log"
      #expect(try await rig.value(entries, as: String.self, on: reactor) == "1 1 1")
    }
  }

  @Test("who takes the event over sends to the others alone")
  func takenOver() async throws {
    try await PipelineRig.run { rig, reactor in
      try await acceptTwo(of: rig, on: reactor)
      // Another owner has claimed it, and has died.
      try await rig.execute(
        "update tacet.inbox set available_at = now() - interval '1 s', attempts = 1, is_claimed = true", on: reactor)
      rig.pipeline.wake(.due, on: reactor)
      try await rig.channel.received(4, on: reactor)
      rig.channel.release(on: reactor)
      #expect(await rig.pipeline.drain(within: .seconds(60), on: reactor))
      #expect(rig.channel.sent.count == 4 && rig.channel.sent[3].token == rig.channel.sent[2].token)
      #expect(try await rig.value(Self.sent, as: Int64.self, on: reactor) == 3)
    }
  }
}
