import PushRules
import PushStore
import Reactors
import Testing

@testable import PushPipeline

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
    while try await rig.value(Self.sent, as: Int64.self, on: reactor) < 2 {}
  }

  @Test("who has accepted stands in the ledger before the last one is decided, and is counted once")
  func early() async throws {
    try await PipelineRig.run { rig, reactor in
      try await acceptTwo(of: rig, on: reactor)
      let claimed = "select count(*) from tacet.inbox where is_claimed and attempts = 1"
      #expect(try await rig.value(claimed, as: Int64.self, on: reactor) == 1)
      #expect(rig.outcomes(.sent) == 0)
      rig.channel.release(on: reactor)
      #expect(await rig.pipeline.drain(within: .seconds(10), on: reactor))
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
      try await rig.execute("update tacet.inbox set available_at = now() - interval '1 s'", on: reactor)
      rig.pipeline.wake(.due, on: reactor)
      try await rig.channel.received(4, on: reactor)
      rig.channel.release(on: reactor)
      #expect(await rig.pipeline.drain(within: .seconds(10), on: reactor))
      #expect(rig.channel.sent.count == 4 && rig.channel.sent[3].token == rig.channel.sent[2].token)
      #expect(try await rig.value(Self.sent, as: Int64.self, on: reactor) == 3)
    }
  }
}
