import PushRules
import TestRandomness
import Testing

@testable import PushStore
@testable import Replay

/// Stories of all kinds, recorded by the real rules.
@Suite("Replays of random stories")
struct RandomStoryTests {
  private static let seed: UInt64 = 27

  private static func stories() -> [Story] {
    var generator = SeededGenerator(seed: seed)
    return (0..<2000).map { _ in story(&generator) }
  }

  private static func story(_ generator: inout SeededGenerator) -> Story {
    var story = Story()
    story.policy = SuppressionPolicy(
      window: .seconds(Int.random(in: 0...90, using: &generator)),
      timeToLive: .seconds(Int.random(in: 1...4000, using: &generator)))
    var known = facts(&generator)
    var (at, held, isPutOff) = (Double.random(in: 0...5, using: &generator), 0 as Int64, false)
    var release: (String, Double)?
    for _ in 0..<Int.random(in: 1...6, using: &generator) {
      isPutOff = Int.random(in: 0..<4, using: &generator) == 0
      story.look(at: at, release: release, isPutOff: isPutOff) { situation in
        let limits = (situation.window, situation.timeToLive, situation.messageAge)
        situation = known
        (situation.window, situation.timeToLive, situation.messageAge) = limits
        situation.heldFor = held
      }
      guard let last = story.entries.last, let due = last.dueMicroseconds else { break }
      let length = Double(due) / 1_000_000
      let isReleased = last.remaining == "held" && Bool.random(using: &generator)
      let wait = isReleased ? Double.random(in: 0...length, using: &generator) : length
      if last.remaining == "held" { held += Story.microseconds(wait) }
      release = isReleased ? ("read", at + wait) : nil
      age(&known, by: wait + 0.001)
      at += wait + 0.001
      if isReleased { change(&known, &generator) }
    }
    story.askedAt = at + Double.random(in: 0...100, using: &generator)
    return story
  }

  private static func facts(_ generator: inout SeededGenerator) -> HistoryEntry.Situation {
    func rarely() -> Bool { Int.random(in: 0..<12, using: &generator) == 0 }
    func age() -> Int64? {
      Bool.random(using: &generator) ? nil : Int64.random(in: -1_000_000...100_000_000, using: &generator)
    }
    var known = HistoryEntry.Situation()
    (known.isDeleted, known.isCancelled, known.isCapped) = (rarely(), rarely(), rarely())
    (known.hasRead, known.isOptedOut, known.isMuted) = (rarely(), rarely(), rarely())
    (known.wantsMentionsOnly, known.isMentioned, known.hasLeft) = (rarely(), rarely(), rarely())
    (known.lastSeenAge, known.newestOtherReadAge) = (age(), age())
    known.isParticipant = !rarely()
    known.deviceCount = rarely() ? 0 : 2
    if rarely() {
      known.quietHoursRemaining = Int64.random(in: 1...30_000_000_000, using: &generator)
      known.quietHoursPolicy = Bool.random(using: &generator) ? "hold" : "drop"
    }
    return known
  }

  private static func age(_ known: inout HistoryEntry.Situation, by seconds: Double) {
    let wait = Story.microseconds(seconds)
    known.lastSeenAge = known.lastSeenAge.map { $0 + wait }
    known.newestOtherReadAge = known.newestOtherReadAge.map { $0 + wait }
    known.quietHoursRemaining = known.quietHoursRemaining.flatMap { $0 > wait ? $0 - wait : nil }
  }

  private static func change(_ known: inout HistoryEntry.Situation, _ generator: inout SeededGenerator) {
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: known.hasRead = true
    case 1: known.hasLeft = true
    case 2: (known.lastSeenAge, known.sawAfterMessage) = (0, true)
    default: known.isMuted = true
    }
  }

  @Test("by the rules of then nothing changes")
  func unchanged() {
    var effects: Set<String> = []
    for story in Self.stories() {
      let timeline = story.timeline
      #expect(timeline.isConsistent)
      #expect(timeline.replayed(by: RuleChange()) == timeline.recorded)
      var same = RuleChange()
      (same.window, same.timeToLive) = (story.policy.window, story.policy.timeToLive)
      #expect(timeline.replayed(by: same) == timeline.recorded)
      effects.insert(timeline.recorded.words)
    }
    #expect(effects.count > 15, "\(effects)")
  }

  @Test("without a window and quiet hours no push waits, and none comes later")
  func nothingHolds() {
    var change = RuleChange.limits(window: 0)
    change.quietHours = .off
    var counts: [ReplayEffect: Int] = [:]
    for story in Self.stories() {
      let after = story.timeline.replayed(by: change)
      if case .held = after { Issue.record("\(story.entries)") }
      if let effect = ReplayEffect(from: story.timeline.recorded, to: after) { counts[effect, default: 0] += 1 }
    }
    #expect(Set(counts.keys).isSubset(of: [.more, .earlier, .fewer, .otherReason]), "\(counts)")
    #expect((counts[.more] ?? 0) > 50 && (counts[.earlier] ?? 0) > 100, "\(counts)")
  }

  @Test("a longer window sends nothing more or earlier, and a longer life nothing less")
  func longer() {
    for story in Self.stories() {
      let timeline = story.timeline
      let held = ReplayEffect(from: timeline.recorded, to: timeline.replayed(by: .limits(window: 3600)))
      #expect(held != .more && held != .earlier, "\(story.entries)")
      let alive = ReplayEffect(from: timeline.recorded, to: timeline.replayed(by: .limits(timeToLive: 2_592_000)))
      #expect(alive != .fewer, "\(story.entries)")
    }
  }
}
