import PushStore
import Testing

@testable import Explanations

@Suite("The report about two senders")
struct SenderComparisonTests {
  private typealias Agreement = SenderComparison.Agreement

  private static let week: Range<Int64> = 1_795_082_400_000_000..<1_795_687_200_000_000

  private static func comparison(_ verdicts: [ComparedVerdicts]) -> SenderComparison {
    SenderComparison(verdicts, sounds: ComparedSounds(), time: week, kinds: ["message"])
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let ours: String
    let reason: String?
    let theirs: String
    let outcome: String?
    let agreement: SenderComparison.Agreement
    let cause: String?
    var testDescription: String { "\(ours) \(theirs)" }

    init(
      _ ours: String, _ reason: String?, _ theirs: String, _ outcome: String?,
      _ agreement: SenderComparison.Agreement, _ cause: String?
    ) {
      (self.ours, self.reason, self.theirs, self.outcome) = (ours, reason, theirs, outcome)
      (self.agreement, self.cause) = (agreement, cause)
    }
  }

  private static let cases = [
    Case("pushed", nil, "pushed", nil, .bothPushed, nil),
    Case("pushed", nil, "nothing", nil, .onlyTacet, "nothing"),
    Case("pushed", nil, "failed", "410", .onlyTacet, "failed: 410"),
    Case("skipped", "user_viewing", "pushed", nil, .onlyOther, "user_viewing"),
    Case("skipped", "user_viewing", "nothing", nil, .bothSilent, "user_viewing"),
    Case("skipped", "no_tokens", "failed", "no_device", .bothSilent, "no_tokens"),
    Case("held", "quiet_hours", "pushed", nil, .onlyOther, "held: quiet_hours"),
    Case("failed", "BadTopic", "nothing", nil, .bothSilent, "failed: BadTopic"),
    Case("failed", nil, "pushed", nil, .onlyOther, "failed: unknown"),
    Case("unknown", nil, "pushed", nil, .onlyOther, "unknown to Tacet"),
    Case("unknown", nil, "failed", "410", .bothSilent, "unknown to Tacet"),
  ]

  @Test(
    "two verdicts come to an agreement or a difference, with the reason of the one that was silent", arguments: cases)
  func reckon(_ known: Case) throws {
    let row = try #require(
      Self.comparison([
        ComparedVerdicts(
          ours: known.ours, reason: known.reason, theirs: known.theirs, outcome: known.outcome, pairs: 7)
      ]).rows.first)
    #expect((row.agreement, row.cause, row.pairs) == (known.agreement, known.cause, 7))
  }

  @Test("pairs of one cause are one row, with three examples; the most frequent cause comes first")
  func rows() {
    func verdicts(_ reason: String, _ theirs: String, _ outcome: String?, _ pairs: Int) -> ComparedVerdicts {
      var verdicts = ComparedVerdicts(ours: "skipped", reason: reason, theirs: theirs, outcome: outcome, pairs: pairs)
      verdicts.examples = (0..<2).map { .init(subjectID: "\(outcome ?? "m")\($0)", userID: "u", kind: "message") }
      return verdicts
    }
    let comparison = Self.comparison([
      verdicts("muted", "nothing", nil, 2), verdicts("no_tokens", "failed", "a", 1),
      verdicts("no_tokens", "failed", "b", 3), verdicts("muted", "pushed", nil, 5),
    ])
    #expect(comparison.rows.map(\.cause) == ["no_tokens", "muted", "muted"])
    #expect(comparison.rows.map(\.pairs) == [4, 2, 5])
    #expect(comparison.rows[0].examples.map(\.subjectID) == ["a0", "a1", "b0"])
    #expect(comparison.pairs(.bothSilent) == 6 && comparison.total == 11 && comparison.differences == 5)
  }

  @Test("the report for people names each cause, and the command for each difference")
  func text() {
    var both = ComparedVerdicts(ours: "pushed", theirs: "pushed", pairs: 10)
    (both.medianLateness, both.percentile99Lateness) = (-400_000, 2_000_000)
    var only = ComparedVerdicts(ours: "skipped", reason: "already_read", theirs: "pushed", pairs: 1)
    only.examples = [.init(subjectID: "it's; rm", userID: "17", kind: "message")]
    var sounds = ComparedSounds()
    (sounds.userDays, sounds.ours, sounds.theirs) = (4, 10, 11)
    (sounds.percentile99Ours, sounds.percentile99Theirs) = (5, 6)
    let text = SenderComparison([both, only], sounds: sounds, time: Self.week, kinds: ["message"]).text
    #expect(
      text == """
        2026-11-19T10:00:00.000Z to 2026-11-26T10:00:00.000Z, message: 11 pairs of event and recipient

        both pushed                 10

        both silent                 0

        only the other pushed       1
          already_read              1
              tacet explain --message 'it'\\''s; rm' --user 17 --kind message

        only Tacet pushed           0

        Where both pushed, Tacet's came 400 ms earlier at the median, and 2 s later at p99.
        Pushes with a sound for each user and day: Tacet 2.50 (p99 5), the other 2.75 (p99 6), on 4 such days.
        The senders differ about 1 of 11 pairs.

        """)
  }

  @Test("the report for programs has the same, and nothing of nothing")
  func json() {
    let empty = String(decoding: Self.comparison([]).json, as: UTF8.self)
    #expect(empty.contains(#""differences":0,"from":"2026-11-19T10:00:00.000Z","kinds":["message"],"only_other":0"#))
    #expect(!empty.contains("later_microseconds"))
    #expect(Self.comparison([]).text.contains("No pair was pushed by both."))
  }
}
