import Foundation
import PushKinds
import Testing

@testable import PushStore
@testable import Replay

@Suite("The report of a replay")
struct ReplayReportTests {
  private static func report(_ stories: [Story], _ change: RuleChange, examplesMax: Int = 1) -> ReplayReport {
    var rules = ReplayRules()
    rules.general = change
    var tally = ReplayTally(rules, examplesMax: examplesMax)
    for story in stories { tally.add(story.push) }
    return tally.report(of: Story.start..<Story.start + 3_600_000_000, isCut: false)
  }

  /// The text without the space between columns.
  private static func unspaced(_ report: ReplayReport) -> String { report.text.replacing(#/ +/#, with: " ") }

  private static let stories: [Story] = {
    var outlasted = Story { $0.lastSeenAge = 10_000_000 }
    outlasted.look(at: 50.003) { ($0.lastSeenAge, $0.heldFor) = (60_001_000, 50_000_000) }
    var read = Story { $0.lastSeenAge = 10_000_000 }
    read.look(at: 20, release: ("read", 19.9)) { ($0.lastSeenAge, $0.hasRead) = (29_998_000, true) }
    return [outlasted, outlasted, read, Story { _ in }, Story()]
  }()

  @Test("by the rules of then there is no difference; what has no record is told apart")
  func unchanged() {
    let report = Self.report(Self.stories, RuleChange())
    #expect((report.pushes, report.decisions, report.differences, report.inconsistent) == (5, 7, 0, 0))
    #expect(report.sent == (3, 3))
    #expect(report.changes.map(\.effect) == [.notRecorded])
    #expect(report.text.contains("differences: 0"))
    #expect(Self.unspaced(report).contains("not recorded 1 not recorded not recorded"))
  }

  @Test("says what changes, with examples to explain")
  func changed() throws {
    let report = Self.report(Self.stories, .limits(window: 5))
    #expect(report.changes.map(\.effect) == [.more, .earlier, .notRecorded])
    #expect(report.changes.map(\.count) == [1, 2, 1])
    #expect(report.differences == 3 && report.sent == (3, 4))
    #expect(report.changes[1].examples.count == 1)
    for line in [
      "more 1 skipped already_read sent", "earlier 2 50 s held user_viewing, then sent sent",
      "tacet explain --message 42 --kind message --user 7 # 50 s -> 2 ms after the commit",
    ] {
      #expect(Self.unspaced(report).contains(line), "\(report.text)")
    }
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(report.json)) as? [String: Any])
    #expect(document["differences"] as? Int == 3 && document["from"] as? String == "2026-09-21T14:13:20.000Z")
    let changes = try #require(document["changes"] as? [[String: Any]])
    #expect(changes.map { $0["effect"] as? String } == ["more", "earlier", "not_recorded"])
    #expect(changes[1]["average_shift_seconds"] as? Double == 50.001)
    let example = try #require((changes[1]["examples"] as? [[String: Any]])?.first)
    #expect(example["explain"] as? String == "tacet explain --message 42 --kind message --user 7")
    #expect(example["wait_seconds_before"] as? Double == 50.003)
  }

  @Test("an id of a host that is no plain word is quoted")
  func quoted() {
    let example = ReplayExample(
      subjectID: HostID(text: "a'; rm -r *"), kind: "message", userID: HostID(text: "b"), enqueuedAt: 0, wait: nil,
      waitAfter: nil)
    #expect(example.command == "tacet explain --message 'a'\\''; rm -r *' --kind message --user b")
  }

  @Test("with folding it counts sounds and silent updates")
  func folding() {
    var change = RuleChange()
    change.foldWindow = .seconds(20)
    let known = ["1", "2", "3"].map { id in
      var story = Story { _ in }
      (story.surface, story.subjectID) = ("c0ffee17", HostID(text: id))
      return story
    }
    let report = Self.report(known + [Story { _ in }], change)
    #expect(report.sounding?.before == 4 && report.sounding?.after == 2 && report.withoutSurface == 1)
    #expect(report.text.contains("with sound: 4 as recorded, 2 by these rules (1 without a recorded conversation"))
    #expect(report.text.contains("silent updates: 0 as recorded, 2 by these rules"))
    #expect(report.differences == 0)
  }

  @Test("a kind whose folding does not change sounds as it did")
  func asRecorded() {
    var rules = ReplayRules()
    rules.kinds["coach"] = RuleChange()
    rules.kinds["coach"]?.foldWindow = .seconds(20)
    var tally = ReplayTally(rules, examplesMax: 0)
    for sounds in [true, false, nil] as [Bool?] {
      var story = Story { _ in }
      story.sounds = sounds
      tally.add(story.push)
    }
    let report = tally.report(of: 0..<1, isCut: false)
    #expect(report.sounding?.before == 2 && report.sounding?.after == 2)
  }
}
