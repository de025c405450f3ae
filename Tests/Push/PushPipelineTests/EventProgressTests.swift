import APNSCore
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
    progress.note(.accepted, for: both[0], of: 0)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    #expect(!progress.isDecided)
    progress.note(.dead(reason: "Unregistered", sinceMilliseconds: nil), for: both[1], of: 0)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    #expect(progress.isDecided)
    #expect(progress.decided.outcomes.map(\.decision) == [.skipped, .sent])
    #expect(progress.decided.deadTokens.map(\.token) == ["BB02"])
  }

  @Test("a part has those accepted since the last one, with nothing left to do")
  func parts() {
    let recipients = (8...10).map { PushFixtures.recipient(PushFixtures.makeID($0)) }
    let progress = progress(PushFixtures.event(recipients: recipients))
    #expect(progress.nextPart() == nil)
    for index in recipients.indices { progress.begin(index) }
    progress.note(.accepted, for: PushFixtures.phone, of: 1)
    progress.finishIfComplete(1, pacing: PushFixtures.pacing)
    progress.note(.postponed(reason: "Shutdown", minimum: .zero), for: PushFixtures.phone, of: 0)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    let part = progress.nextPart()
    #expect(part?.purpose == .part && part?.outcomes.map(\.userID) == [PushFixtures.makeID(9)])
    #expect(progress.nextPart() == nil)
    progress.note(.accepted, for: PushFixtures.phone, of: 2)
    progress.finishIfComplete(2, pacing: PushFixtures.pacing)
    #expect(progress.isDecided && progress.decided.purpose == .record && progress.decided.outcomes.count == 3)
  }

  @Test("what was learnt of a recipient's tokens goes with the event")
  func learnt() {
    let progress = progress(PushFixtures.event())
    progress.begin(0)
    progress.note(.acceptedElsewhere(.sandbox), for: PushFixtures.phone, of: 0)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    #expect(
      progress.decided.learntEnvironments == [
        LearntEnvironment(device: PushFixtures.phone, environment: "sandbox", readAt: 1_700_000_001_000_000)
      ])
  }

  @Test("a recipient is closed once, however often it is asked for")
  func closedOnce() {
    let progress = progress(PushFixtures.event())
    progress.begin(0)
    progress.note(.refused(reason: "deviceTokenMalformed"), for: PushFixtures.phone, of: 0)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    progress.finishIfComplete(0, pacing: PushFixtures.pacing)
    progress.note(.accepted, for: PushFixtures.phone, of: 0)
    #expect(progress.decided.outcomes.map(\.reason) == ["deviceTokenMalformed"])
  }

  @Test("times count from the wake-up to the claim, and from the claim on")
  func times() throws {
    let progress = progress(PushFixtures.event())
    progress.begin(0)
    progress.note(.accepted, for: PushFixtures.phone, of: 0)
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
      progress.note(.accepted, for: PushFixtures.phone, of: index)
      progress.finishIfComplete(index, pacing: PushFixtures.pacing)
    }
    let outcome = try #require(progress.decided.outcomes.first)
    #expect(outcome.decidedMicroseconds >= hour)
    #expect(try #require(outcome.acceptedMicroseconds) >= hour)
    #expect(outcome.deviceAttempts.allSatisfy { $0.endedMicroseconds >= hour })
    #expect(outcome.wokenMicroseconds == 3000)
  }
}
