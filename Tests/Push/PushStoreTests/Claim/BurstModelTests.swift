import Testing

@testable import PushRules

@Suite("A burst of messages")
struct MessageBurstTests {
  /// A window of 20 ms and updates every 1 ms, in microseconds, so that edges are easy to read.
  private let policy = FoldPolicy(window: .microseconds(20_000), settle: .microseconds(1000))

  private func message(_ number: Int64) -> BurstMessage { BurstMessage(enqueuedAt: number, id: "\(number)") }

  /// One message sounded at time 0; then others as given: number, time, state of the push before.
  private func burst(_ steps: [(Int64, Int64, HandedOverPush)] = []) -> MessageBurst? {
    var burst: MessageBurst?
    #expect(policy.decide(message(10), at: 0, latest: .inFlight, of: &burst) == .sound)
    for (number, now, state) in steps { _ = policy.decide(message(number), at: now, latest: state, of: &burst) }
    return burst
  }

  @Test(
    "what follows waits for the next update within the window, and sounds after it",
    arguments: [
      (1, .wait(until: 1001)), (18_998, .wait(until: 19_998)), (18_999, .wait(until: 19_999)),
      // Less than the time between updates is left: now rather than with a sound.
      (19_000, .update), (19_999, .update), (20_000, .sound),
    ] as [(Int64, FoldDecision)])
  func newer(now: Int64, expected: FoldDecision) {
    var burst = burst()
    #expect(policy.decide(message(11), at: now, latest: .sent, of: &burst) == expected)
  }

  @Test(
    "the state of the push before decides about a newer message",
    arguments: [
      (.inFlight, 5000, .wait(until: 6000)), (.inFlight, 19_500, .wait(until: 20_000)), (.inFlight, 20_000, .sound),
      // The first was put off or failed, so nothing has sounded.
      (.waits, 5000, .sound), (.gone, 5000, .sound),
    ] as [(HandedOverPush, Int64, FoldDecision)])
  func states(state: HandedOverPush, now: Int64, expected: FoldDecision) {
    var burst = burst()
    #expect(policy.decide(message(11), at: now, latest: state, of: &burst) == expected)
  }

  @Test("an update goes at its time and not before, whatever message asks", arguments: [999, 1001] as [Int64])
  func updates(now: Int64) {
    var burst = burst([(11, 1, .sent)])
    let decision = policy.decide(message(12), at: now, latest: .sent, of: &burst)
    #expect(decision == (now < 1001 ? .wait(until: 1001) : .update))
    #expect(burst?.more == 2 && burst?.first == message(10))
    #expect(burst?.latest == message(now < 1001 ? 10 : 12))
  }

  @Test("of messages that are decided together the newest takes the update")
  func together() {
    var burst = burst([(11, 1, .sent), (12, 2, .sent)])
    #expect(policy.decide(message(11), at: 1001, isNewest: false, latest: .sent, of: &burst) == .wait(until: 2001))
    #expect(policy.decide(message(12), at: 1001, latest: .sent, of: &burst) == .update)
    #expect(policy.decide(message(11), at: 2001, latest: .sent, of: &burst) == .fold)
  }

  @Test("of messages that have asked the newest takes the update, or another one when it does not come for it")
  func newestOfAll() {
    var burst = burst([(11, 1, .sent), (12, 2, .sent)])
    #expect(policy.decide(message(11), at: 1001, latest: .sent, of: &burst) == .wait(until: 2001))
    var other = burst
    #expect(policy.decide(message(12), at: 1002, latest: .sent, of: &burst) == .update)
    #expect(policy.decide(message(11), at: 2001, latest: .sent, of: &burst) == .fold)
    #expect(policy.decide(message(11), at: 2001, latest: .sent, of: &other) == .update)
    // Soon nothing but a sound would be left.
    other = self.burst([(12, 18_900, .sent)])
    #expect(policy.decide(message(11), at: 19_500, latest: .sent, of: &other) == .update)
  }

  @Test("after an update the next is planned anew, also when the update itself was put off or failed")
  func nextUpdate() {
    for state in [HandedOverPush.sent, .waits, .gone] {
      var burst = burst([(11, 1, .sent), (11, 1001, .sent)])
      #expect(burst?.latest == message(11) && burst?.updateAt == nil)
      #expect(policy.decide(message(12), at: 1002, latest: state, of: &burst) == .wait(until: 2002))
      #expect(policy.decide(message(12), at: 2002, latest: state, of: &burst) == .update)
    }
  }

  @Test(
    "an older message folds once the newer one is shown, and waits until that is known, for another window at the most",
    arguments: [
      (.sent, 2000, .fold), (.sent, 20_000, .fold), (.inFlight, 2000, .wait(until: 3000)),
      (.inFlight, 19_500, .wait(until: 20_000)), (.inFlight, 20_000, .wait(until: 21_000)),
      (.inFlight, 39_500, .wait(until: 40_000)), (.inFlight, 40_000, .sound), (.waits, 2000, .wait(until: 20_000)),
      (.waits, 20_000, .wait(until: 40_000)), (.waits, 40_000, .sound), (.gone, 2000, .wait(until: 3000)),
      (.gone, 20_000, .sound),
    ] as [(HandedOverPush, Int64, FoldDecision)])
  func older(state: HandedOverPush, now: Int64, expected: FoldDecision) {
    var burst = burst([(12, 1, .sent), (12, 1001, .sent)])
    #expect(policy.decide(message(11), at: now, latest: state, of: &burst) == expected)
  }

  @Test("a mention begins a new burst, but once it has asked it is one of the others")
  func mentions() {
    var begun = burst([(11, 1, .sent)])
    #expect(policy.decide(message(12), at: 2, isMentioned: true, latest: .sent, of: &begun) == .sound)
    #expect(begun?.first == message(12) && begun?.soundedAt == 2 && begun?.more == 0)
    var known = burst([(11, 1, .sent)])
    #expect(policy.decide(message(11), at: 2, isMentioned: true, latest: .sent, of: &known) == .wait(until: 1001))
  }

  @Test("a mention sounds also behind a newer message, beside its burst")
  func olderMention() {
    for state in HandedOverPush.allCases {
      var burst = burst()
      #expect(policy.decide(message(9), at: 5, isMentioned: true, latest: state, of: &burst) == .sound)
      #expect(burst == self.burst())
    }
  }

  @Test(
    "what follows a mention that has not sounded does not sound for it, because another did within the window",
    arguments: [
      (.waits, 100, .wait(until: 1100)), (.waits, 20_001, .wait(until: 20_002)), (.waits, 20_002, .sound),
      (.gone, 100, .wait(until: 1100)), (.gone, 19_500, .update),
    ] as [(HandedOverPush, Int64, FoldDecision)])
  func afterMention(state: HandedOverPush, now: Int64, expected: FoldDecision) {
    var burst = burst()
    #expect(policy.decide(message(12), at: 2, isMentioned: true, latest: .sent, of: &burst) == .sound)
    #expect(policy.decide(message(13), at: now, latest: state, of: &burst) == expected)
  }

  @Test(
    "the push that was handed over last may ask again: it keeps its sound, or stays an update until the window ends",
    arguments: [
      (10, 19_999, .sound), (10, 20_000, .sound), (11, 19_999, .update), (11, 20_000, .sound),
    ] as [(Int64, Int64, FoldDecision)])
  func again(number: Int64, now: Int64, expected: FoldDecision) {
    var burst = number == 10 ? burst() : burst([(11, 1, .sent), (11, 1001, .sent)])
    #expect(policy.decide(message(number), at: now, latest: .inFlight, of: &burst) == expected)
    #expect(burst?.soundedAt == (expected == .sound ? now : 0))
  }

  @Test("the first message folds when a newer one has sounded since")
  func firstAgain() {
    var burst = burst([(11, 5, .waits)])
    #expect(burst?.first == message(11))
    #expect(policy.decide(message(10), at: 10, latest: .sent, of: &burst) == .fold)
  }

  @Test("every message counts once, up to a bound, and what the recipient has seen counts no more")
  func counts() {
    var known = burst([(11, 1, .sent), (11, 2, .sent), (12, 2, .sent), (13, 3, .sent), (13, 4, .sent)])
    #expect(known?.more == 3)
    _ = policy.decide(message(14), at: 10, lookedAt: 10, latest: .sent, of: &known)
    #expect(known?.more == 4)
    _ = policy.decide(message(15), at: 11, lookedAt: 11, latest: .sent, of: &known)
    #expect(known?.more == 0)
    var many = burst()
    for number in Int64(11)..<200 { _ = policy.decide(message(number), at: 1, latest: .sent, of: &many) }
    #expect(many?.more == MessageBurst.membersMax - 1)
  }

  @Test("a message that an update of the burst before has counted is not counted again, and no other is left out")
  func countedBefore() {
    for isTold in [true, false] {
      var burst = burst([(11, 1, .sent), (12, 2, .sent)])
      if isTold {
        #expect(policy.decide(message(12), at: 1001, latest: .sent, of: &burst) == .update)
        #expect(burst?.more == 2)
      }
      #expect(policy.decide(message(13), at: 1500, isMentioned: true, latest: .sent, of: &burst) == .sound)
      #expect(policy.decide(message(11), at: 2001, latest: .inFlight, of: &burst) == .wait(until: 3001))
      #expect(policy.decide(message(11), at: 3001, latest: .sent, of: &burst) == .fold)
      #expect(burst?.more == (isTold ? 0 : 1))
    }
  }

  @Test("messages are ordered by their commit, then by their ids")
  func order() {
    #expect(BurstMessage(enqueuedAt: 1, id: "b") < BurstMessage(enqueuedAt: 2, id: "a"))
    #expect(BurstMessage(enqueuedAt: 1, id: "a") < BurstMessage(enqueuedAt: 1, id: "b"))
  }
}
