import PushRules
import Testing

@Suite("Presence times")
struct PresenceTimesTests {
  /// The message was committed at 100 and is claimed at 200.
  private func situation(_ times: PresenceTimes) -> RecipientSituation {
    var situation = RecipientSituation.nothingKnown
    situation.set(times, enqueuedAt: 100, moment: 200)
    return situation
  }

  @Test("nothing reported is nothing known")
  func nothing() { #expect(situation(PresenceTimes()) == .nothingKnown) }

  @Test(
    "ages count to the claim, and are negative for times of another clock",
    arguments: [(nil, nil), (200, 0), (199, 1), (201, -1), (-50, 250)] as [(Int64?, Int64?)])
  func ages(time: Int64?, age: Int64?) {
    let found = situation(PresenceTimes(lastSeen: time, readOther: time))
    #expect(found.lastSeenAge == age.map { .microseconds($0) })
    #expect(found.newestOtherReadAge == age.map { .microseconds($0) })
  }

  @Test(
    "a look counts if it is later than the message, and not later than the claim",
    arguments: [
      (100, nil, false), (101, nil, true), (200, nil, true), (201, nil, false), (nil, nil, false),
      // The message's own date moves its arrival, unless it lies before the commit or in the future.
      (120, 119, true), (120, 120, false), (101, 99, true), (200, 200, false), (101, 201, true),
    ] as [(Int64?, Int64?, Bool)])
  func saw(lastSeen: Int64?, created: Int64?, saw: Bool) {
    #expect(situation(PresenceTimes(lastSeen: lastSeen, created: created)).sawAfterMessage == saw)
  }

  @Test(
    "leaving counts from the last sign of presence until the claim",
    arguments: [
      (150, 150, nil, true), (149, 150, nil, false), (200, 150, nil, true), (201, 150, nil, false),
      (150, nil, nil, false),
      // A read stands in for looks that are unknown, or written by another clock.
      (150, nil, 150, true), (150, nil, 151, false), (150, 201, 150, true), (150, 201, nil, false),
      (150, nil, 201, false), (150, 160, 140, false), (nil, 150, 150, false),
    ] as [(Int64?, Int64?, Int64?, Bool)])
  func left(left: Int64?, lastSeen: Int64?, readOther: Int64?, hasLeft: Bool) {
    #expect(situation(PresenceTimes(lastSeen: lastSeen, left: left, readOther: readOther)).hasLeft == hasLeft)
  }

  @Test("no time that PostgreSQL has is too far away")
  func extremes() {
    for time in [-210_866_803_200_000_000, Int64.max] {
      let found = situation(PresenceTimes(lastSeen: time, left: time, readOther: time, created: time))
      #expect(found.lastSeenAge == .microseconds(200) - .microseconds(time))
    }
  }
}
