import PushRules
import Testing

@testable import PushStore
@testable import Replay

@Suite("A push under other rules")
struct PushTimelineTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let story: Story
    let change: RuleChange
    let effect: ReplayEffect?
    /// When it goes out then, in seconds after the commit; nil where that is not looked at.
    let at: Double?

    init(_ name: String, _ story: Story, _ change: RuleChange, _ effect: ReplayEffect?, at: Double? = nil) {
      (testDescription, self.story, self.change, self.effect, self.at) = (name, story, change, effect, at)
    }
  }

  private static func seen(_ ago: Double) -> Story { Story { $0.lastSeenAge = Story.microseconds(ago) } }

  /// Held for having looked 10 s before, and then sent at the end of the window.
  private static let outlasted: Story = {
    var story = seen(10)
    story.look(at: 50.003) {
      $0.lastSeenAge = 60_001_000
      $0.heldFor = 50_001_000
    }
    return story
  }()

  /// Held for having looked 10 s before, and then read.
  private static func read(at: Double) -> Story {
    var story = seen(10)
    story.look(at: at + 0.001, release: ("read", at)) {
      $0.lastSeenAge = 10_000_000 + Story.microseconds(at)
      $0.hasRead = true
    }
    return story
  }

  /// Held for having looked 10 s before, until the recipient left.
  private static let left: Story = {
    var story = seen(10)
    story.look(at: 5.001, release: ("left", 5)) {
      $0.lastSeenAge = 15_000_000
      $0.hasLeft = true
    }
    return story
  }()

  /// Put off by the service, and tried again 5 s later.
  private static func putOff(_ facts: (inout HistoryEntry.Situation) -> Void = { _ in }) -> Story {
    var story = Story()
    story.look(at: 0.002, isPutOff: true)
    story.look(at: 5, facts)
    return story
  }

  private static func held(askedAt: Double) -> Story {
    var story = seen(10)
    story.askedAt = askedAt
    return story
  }

  private static let window: [Case] = [
    Case("away: no window matters", Story { _ in }, .limits(window: 3600), nil, at: 0.002),
    Case("seen just before the window", seen(70), .limits(window: 70), nil, at: 0.002),
    Case("seen in a longer window", seen(70), .limits(window: 71), .laterOrNever),
    Case("left: a longer window holds nothing", left, .limits(window: 3600), nil, at: 5.001),
    Case("left: a shorter one ends before", left, .limits(window: 12), .earlier, at: 2.002),
    Case("left: the last that ends before", left, .limits(window: 14), .earlier, at: 4.002),
    Case("left: the first that does not", left, .limits(window: 15), nil, at: 5.001),
    Case("outlasted, in a window over at once", outlasted, .limits(window: 10), .earlier, at: 0.002),
    Case("outlasted, in a window of a second more", outlasted, .limits(window: 11), .earlier, at: 1.002),
    Case("outlasted, in the window of then", outlasted, .limits(window: 60), nil, at: 50.003),
    Case("outlasted, in a longer one", outlasted, .limits(window: 61), .laterOrNever),
    Case("read after the shorter hold", read(at: 20.003), .limits(window: 30), .more, at: 20.002),
    Case("read as it ends", read(at: 20.002), .limits(window: 30), nil),
    Case("read before it ends", read(at: 20.001), .limits(window: 30), nil),
    Case("no window at all", read(at: 20), .limits(window: 0), .more, at: 0.002),
  ]

  private static let life: [Case] = [
    Case("too old, and still", Story { $0.messageAge = 3_601_000_000 }, .limits(timeToLive: 3600), nil),
    Case("too old, and no longer", Story { $0.messageAge = 3_601_000_000 }, .limits(timeToLive: 3601), .more),
    Case("sent late, and still", Story { $0.messageAge = 1_800_000_000 }, .limits(timeToLive: 1800), nil),
    Case("sent too late", Story { $0.messageAge = 1_800_000_001 }, .limits(timeToLive: 1800), .fewer),
    Case(
      "an event's own life stays",
      Story { ($0.messageAge, $0.life) = (1_800_000_000, 1_800_000_000) }, .limits(timeToLive: 10), nil),
    Case("time on hold is no age", outlasted, .limits(timeToLive: 1), nil, at: 50.003),
    Case("put off beyond its life", putOff(), .limits(timeToLive: 4), .fewer),
    Case("put off within it", putOff(), .limits(timeToLive: 5), nil, at: 5),
    Case("read while it was put off", putOff { $0.hasRead = true }, .limits(timeToLive: 1), nil),
  ]

  private static let waiting: [Case] = [
    Case("still held", held(askedAt: 30), .limits(window: 60), nil, at: 50.002),
    Case("would have ended by now", held(askedAt: 30), .limits(window: 39), .earlier, at: 29.002),
    Case("will end earlier", held(askedAt: 30), .limits(window: 41), .earlier, at: 31.002),
    Case("will end later", held(askedAt: 30), .limits(window: 120), .later, at: 110.002),
    Case("nothing recorded", Story(), RuleChange(), .notRecorded),
  ]

  @Test("is sent more, less, later or as it was", arguments: window + life + waiting)
  func effects(_ row: Case) {
    let (before, after) = (row.story.timeline.recorded, row.story.timeline.replayed(by: row.change))
    #expect(ReplayEffect(from: before, to: after) == row.effect, "\(before) \(after)")
    if let at = row.at { #expect(after.time == Story.start + Story.microseconds(at), "\(after)") }
    #expect(row.story.timeline.isConsistent)
    let unchanged = row.story.timeline.replayed(by: RuleChange())
    #expect(unchanged == before)
  }

  @Test("what changed at an unknown moment between two tries makes the end unknown")
  func unwatched() {
    // Held by a longer window in place of the first try; muted by the second.
    var story = Story()
    story.look(at: 0.002, isPutOff: true) { $0.lastSeenAge = 70_000_000 }
    story.look(at: 50) {
      $0.lastSeenAge = 120_000_000
      $0.isMuted = true
    }
    #expect(
      story.timeline.replayed(by: .limits(window: 80)) == .open(from: Story.start + 10_002_000, reason: "user_viewing"))
    #expect(story.timeline.replayed(by: .limits(window: 120)) == .skipped(reason: "muted"))
  }

  @Test("a sign of presence that the next claim knew counts from its own time on")
  func seenBetween() {
    // Put off; the recipient looked 4 s after the commit, which the second claim at 50 s knew.
    var story = Story()
    story.look(at: 0.002, isPutOff: true) { $0.lastSeenAge = 70_000_000 }
    story.look(at: 50) {
      $0.lastSeenAge = 46_000_000
      $0.sawAfterMessage = true
    }
    // The hold ends at 3.002 and 5.002 s.
    #expect(
      story.timeline.replayed(by: .limits(window: 73)) == .pushed(at: Story.start + 3_002_000, after: "user_viewing"))
    #expect(story.timeline.replayed(by: .limits(window: 75)) == .skipped(reason: "user_viewing"))
  }

  @Test("a record that its rules do not explain is found")
  func inconsistent() throws {
    let held = Self.outlasted.entries.map(\.json).joined(separator: ",")
    let shorter = held.replacing("\"due_us\":50000000", with: "\"due_us\":49000000")
    let muted = try #require(Story { $0.isMuted = true }.entries.first).json
    let sent = muted.replacing("\"skipped\",\"reason\":\"muted\"", with: "\"sent\"")
    for (json, isConsistent) in [(held, true), (shorter, false), (muted, true), (sent, false)] {
      let history = Array("[\(json)]".utf8).withUnsafeBytes { ReplayedHistory($0).entries }
      let push = RecordedPush(
        enqueuedAt: Story.start, subjectID: nil, kind: "message", userID: Story().userID, decision: .sent,
        history: history, askedAt: Story.start)
      #expect(PushTimeline(push).isConsistent == isConsistent, "\(json)")
    }
  }

  @Test(
    "what folds into a burst, and what a shadow keeps back, has been let go by the rules",
    arguments: ["folded", "shadow"])
  func keptBack(reason: String) {
    var story = Story()
    story.look(at: 0.002, kept: reason)
    #expect(story.timeline.isConsistent)
    #expect(story.timeline.recorded == .pushed(at: Story.start + 2000, after: nil))
    #expect(story.timeline.replayed(by: RuleChange()) == story.timeline.recorded)
  }
}
