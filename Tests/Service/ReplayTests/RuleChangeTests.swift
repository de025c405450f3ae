import PushRules
import Testing
import TimeZones

@testable import PushStore
@testable import Replay

@Suite("Changed wishes")
struct RuleChangeTests {
  private static func effect(_ story: Story, _ change: RuleChange) -> ReplayEffect? {
    ReplayEffect(from: story.timeline.recorded, to: story.timeline.replayed(by: change))
  }

  /// In quiet hours for an hour more.
  private static func quiet(_ policy: String, mentionsOnly: Bool = false, mentioned: Bool = false) -> Story {
    var story = Story {
      ($0.quietHoursRemaining, $0.quietHoursPolicy) = (3_600_000_000, policy)
      ($0.wantsMentionsOnly, $0.isMentioned) = (mentionsOnly, mentioned)
    }
    if policy == "hold" {
      story.look(at: 3600.003) {
        $0.heldFor = 3_600_000_000
        ($0.wantsMentionsOnly, $0.isMentioned) = (mentionsOnly, mentioned)
      }
    }
    return story
  }

  @Test("quiet hours that are off send at once what was held or dropped")
  func off() {
    var change = RuleChange()
    change.quietHours = .off
    #expect(Self.effect(Self.quiet("hold"), change) == .earlier)
    #expect(Self.effect(Self.quiet("drop"), change) == .more)
    #expect(Self.effect(Story { _ in }, change) == nil)
    #expect(Self.effect(Self.quiet("hold"), RuleChange()) == nil)
  }

  @Test("quiet hours for everyone: the first minute holds, the last is over", arguments: QuietHoursPolicy.allCases)
  func daily(_ policy: QuietHoursPolicy) throws {
    let zone = try #require(ZoneDirectory.system.rules(of: "UTC"))
    // The story begins at 14:13:20.
    for (from, until, isQuiet) in [
      (14 * 60 + 13, 15 * 60, true), (14 * 60 + 14, 15 * 60, false), (13 * 60, 14 * 60 + 13, false),
      (13 * 60, 14 * 60 + 14, true), (15 * 60, 14 * 60 + 14, true), (15 * 60, 14 * 60 + 13, false),
    ] {
      var change = RuleChange()
      change.quietHours = .daily(DailyQuietHours(from: from, until: until, zoneName: "UTC", zone: zone, policy: policy))
      let expected: ReplayEffect? = isQuiet ? policy == .hold ? .laterOrNever : .fewer : nil
      #expect(Self.effect(Story { _ in }, change) == expected, "\(from) \(until)")
    }
  }

  @Test("a mention breaks a mute, where it is recorded whether there was one")
  func mute() {
    var change = RuleChange()
    change.mentionBreaksMute = true
    for (mentionsOnly, mentioned, effect) in [
      (true, true, ReplayEffect.more as ReplayEffect?), (true, false, nil), (false, false, .notRecorded),
      (false, true, .more),
    ] {
      let story = Story {
        $0.isMuted = true
        ($0.wantsMentionsOnly, $0.isMentioned) = (mentionsOnly, mentioned)
      }
      #expect(Self.effect(story, change) == effect, "\(mentionsOnly) \(mentioned)")
    }
    #expect(Self.effect(Story { _ in }, change) == nil)
    let read = Story { ($0.isMuted, $0.hasRead) = (true, true) }
    #expect(Self.effect(read, change) == nil, "it does not matter")
  }

  @Test("a mention breaks quiet hours, where it is recorded whether there was one")
  func quietMention() {
    var change = RuleChange()
    change.mentionBreaksQuietHours = true
    #expect(Self.effect(Self.quiet("hold", mentionsOnly: true, mentioned: true), change) == .earlier)
    #expect(Self.effect(Self.quiet("hold", mentionsOnly: false, mentioned: false), change) == .notRecorded)
    #expect(Self.effect(Self.quiet("drop", mentionsOnly: true, mentioned: true), change) == .more)
  }

  @Test("a kind's own change replaces members of the general one, and keeps the others")
  func kinds() {
    var rules = ReplayRules()
    rules.general = .limits(window: 5, timeToLive: 10)
    rules.kinds["coach"] = .limits(window: 7)
    #expect(rules.change(for: "message") == .limits(window: 5, timeToLive: 10))
    #expect(rules.change(for: "coach") == .limits(window: 7, timeToLive: 10))
  }
}

@Suite("Daily quiet hours")
struct DailyQuietHoursTests {
  private static func remaining(_ at: Int64, from: Int, until: Int, in name: String) throws -> Int64? {
    let zone = try #require(ZoneDirectory.system.rules(of: name))
    let hours = DailyQuietHours(from: from, until: until, zoneName: name, zone: zone, policy: .hold)
    return hours.remaining(at: at * 1_000_000).map { $0 / 1_000_000 }
  }

  @Test("end on the next day, at the other hour when the clocks change, and at the first of two equal times")
  func clockChanges() throws {
    // Berlin, 29 March 2026: 02:00 becomes 03:00 at 01:00Z, which is 1774746000. 25 October: 03:00 becomes 02:00 at 01:00Z, 1792890000.
    let (spring, autumn): (Int64, Int64) = (1_774_746_000, 1_792_890_000)
    for (moment, from, until, expected) in [
      (spring - 3600, 22 * 60, 7 * 60, 5 * 3600), (autumn - 3600, 22 * 60, 7 * 60, 6 * 3600),
      // 02:30 does not exist, and is 03:30 then.
      (spring - 3600, 60, 150, 5400), (spring + 1799, 60, 150, 1), (spring + 1800, 60, 150, nil),
      // 02:30 comes twice; the first one ends them.
      (autumn - 1801, 60, 150, 1), (autumn - 1800, 60, 150, nil), (autumn + 60, 60, 150, nil),
    ] as [(Int64, Int, Int, Int64?)] {
      #expect(
        try Self.remaining(moment, from: from, until: until, in: "Europe/Berlin") == expected, "\(moment) \(until)")
    }
  }

  @Test("equal times are the whole day")
  func wholeDay() throws {
    #expect(try Self.remaining(1_790_000_000, from: 0, until: 0, in: "UTC") == 86_400 - 1_790_000_000 % 86_400)
  }
}
