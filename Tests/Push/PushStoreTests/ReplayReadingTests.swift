import Foundation
import Postgres
import PushKinds
import TestIDs
import TestRandomness
import Testing

@testable import PushStore

@Suite("The ledger, read for a replay")
struct ReplayReadingTests {
  private static func read(_ text: String) -> ReplayedHistory {
    Array(text.utf8).withUnsafeBytes { ReplayedHistory($0) }
  }

  private static func entry(_ generator: inout SeededGenerator) -> HistoryEntry {
    func flag() -> Bool { Bool.random(using: &generator) }
    func number() -> Int64 { Int64.random(in: -(1 << 60)...1 << 60, using: &generator) }
    var known = HistoryEntry.Situation()
    (known.isParticipant, known.isDeleted, known.isCancelled, known.isCapped) = (flag(), flag(), flag(), flag())
    (known.hasRead, known.sawAfterMessage, known.hasLeft, known.isOptedOut) = (flag(), flag(), flag(), flag())
    (known.isMuted, known.wantsMentionsOnly, known.isMentioned) = (flag(), flag(), flag())
    (known.messageAge, known.heldFor, known.window, known.timeToLive) = (number(), number(), number(), number())
    (known.life, known.lastSeenAge) = (flag() ? number() : nil, flag() ? number() : nil)
    (known.newestOtherReadAge, known.quietHoursRemaining) = (flag() ? number() : nil, flag() ? number() : nil)
    (known.quietHoursPolicy, known.deviceCount) = (flag() ? "drop" : nil, Int.random(in: 0...50, using: &generator))
    let attempt = HistoryEntry.Attempt(
      mark: "0123456789", route: "a/b", endedMicroseconds: number(), status: 410, reason: "a \"reason\"\\ é",
      verdict: "dropped")
    return HistoryEntry(
      claim: Int.random(in: 1...100, using: &generator), claimedAt: number(), instance: "0123abcd", wokenBy: "notify",
      releasedBy: flag() ? "read" : nil, releasedAt: flag() ? number() : nil, wokenMicroseconds: 0,
      decidedMicroseconds: 0, situation: known, decision: flag() ? .held : .skipped,
      reason: flag() ? "user_viewing" : nil, dueMicroseconds: flag() ? number() : nil,
      remaining: flag() ? "held" : nil, attempts: flag() ? [attempt, attempt] : [])
  }

  @Test("gives what a decoder gives, except for the attempts, in the forms of text and of jsonb")
  func same() throws {
    var generator = SeededGenerator(seed: 27)
    for _ in 0..<300 {
      let entries = (0..<Int.random(in: 0...3, using: &generator)).map { _ in Self.entry(&generator) }
      let text = "[" + entries.map(\.json).joined(separator: ",") + "]"
      let spaced = text.replacing(",\"", with: ", \"").replacing("\":", with: "\": ")
      let decoded = try JSONDecoder().decode([HistoryEntry].self, from: Data(text.utf8))
      #expect(decoded == entries)
      for text in [text, spaced] {
        #expect(Self.read(text).entries?.map(\.json) == entries.map { $0.withoutAttempts.json })
      }
    }
  }

  @Test("a text that is cut anywhere is not read")
  func cut() {
    var generator = SeededGenerator(seed: 28)
    let text = Array("[\(Self.entry(&generator).json), \(Self.entry(&generator).json)]".utf8)
    for count in 0..<text.count {
      #expect(text[..<count].withUnsafeBytes { ReplayedHistory($0) }.entries == nil, "\(count)")
    }
  }

  @Test("a text with a changed byte is read or not, and does no harm")
  func changed() {
    var generator = SeededGenerator(seed: 29)
    let whole = Array("[\(Self.entry(&generator).json), \(Self.entry(&generator).json)]".utf8)
    for place in whole.indices {
      var text = whole
      text[place] = .random(in: 0...255, using: &generator)
      _ = text.withUnsafeBytes { ReplayedHistory($0) }
    }
  }

  @Test(
    "what the service never writes is left to the decoder, or is not read",
    arguments: [
      ("[]", 0), (" [ ] ", 0), ("{}", nil), ("null", nil), ("[null]", nil), ("[{}]", nil), ("[] []", nil), ("", nil),
      (String(repeating: "[", count: 100_000), nil),
      (#"[{"claim":1,"by":"i","woken_by":"poll","known":{},"decision":"sent"}]"#, 1),
      (#"[{"claim":1.0,"by":"i","woken_by":"poll","known":{},"decision":"sent"}]"#, 1),
      (#"[{"claim":1,"by":"i\u00e9","woken_by":"poll","known":{},"decision":"sent","due_us":null}]"#, 1),
      (#"[{"claim":1,"by":"i","woken_by":"poll","known":{},"decision":"sent","more":{"a":[1,"]}",{}]}}]"#, 1),
      (#"[{"claim":1,"by":"i","woken_by":"poll","known":{},"decision":"lost"}]"#, nil),
      (#"[{"claim":1,"by":"i","woken_by":"poll","known":[],"decision":"sent"}]"#, nil),
      (#"[{"claim":99999999999999999999,"by":"i","woken_by":"poll","known":{},"decision":"sent"}]"#, nil),
      (#"[{"claim":1,"by":"i","woken_by":"poll","known":{"read":1},"decision":"sent"}]"#, nil),
    ] as [(String, Int?)])
  func hostile(_ text: String, _ count: Int?) {
    #expect(Self.read(text).entries?.count == count)
  }

  @Test("moments and ages are bounded as the decoder bounds them")
  func bounds() {
    let text =
      #"[{"claim":1,"at":9223372036854775807,"by":"i","woken_by":"poll","known":{"seen_us":-9223372036854775808},"decision":"sent","surface":"c0ffee17","fold":{"more":3,"sound":false}}]"#
    let history = Self.read(text)
    #expect(history.entries?.first?.claimedAt == 1 << 61)
    #expect(history.entries?.first?.situation.lastSeenAge == -1 << 61)
    #expect(history.surface == "c0ffee17" && history.sounds == false)
    #expect(Self.read("[]").surface == nil && Self.read("[]").sounds == nil)
  }

  @Test("pages have every push of the span once, also many of one moment")
  func pages() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.push_log (enqueued_at, subject_id, user_id, push_type, decision)
      select timestamptz '2026-09-21' + n / 10 * interval '1 second', gen_random_uuid(), gen_random_uuid(),
        case n % 3 when 0 then 'coach' else 'message' end, 'skipped'
      from generate_series(0, 99) n
      """)
    let start: Int64 = 1_789_948_800_000_000
    try await withStore(database) { store, reactor in
      for (size, kind, expected) in [(7, nil, 80), (20, nil, 80), (100, nil, 80), (7, "coach", 26)]
        as [(Int, String?, Int)]
      {
        var found: [RecordedPush] = []
        while true {
          let page = try await store.recordedPushes(
            from: start + 1_000_000, after: found.last, until: start + 9_000_000, kind: kind, size: size, on: reactor)
          found += page
          guard page.count == size else { break }
        }
        #expect(found.count == expected && Set(found.map(\.id)).count == expected)
        #expect(found.map(\.enqueuedAt) == found.map(\.enqueuedAt).sorted())
        #expect(found.allSatisfy { $0.history == [] && $0.askedAt > start })
      }
      for (rows, seconds) in [(1, 8), (10, 8), (11, 7), (80, 1), (81, 1)] as [(Int, Int64)] {
        let beginning = try await store.beginning(
          from: start + 1_000_000, until: start + 9_000_000, rowsMax: rows, on: reactor)
        #expect(beginning == start + seconds * 1_000_000, "\(rows)")
      }
    }
  }

  @Test("a page is read by the index on times, without a sort of the span", .uuidsOnly)
  func plan() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.push_log (enqueued_at, subject_id, user_id, push_type, decision)
      select now() - n * interval '1 second', gen_random_uuid(), gen_random_uuid(), 'message', 'skipped'
      from generate_series(0, 20000) n
      """)
    try await database.sql("analyze tacet.push_log")
    let settings = PushDatabase.sessionSettings.map { "set \($0) = \($1);" }.joined(separator: " ")
    for mode in ["force_custom_plan", "force_generic_plan"] {
      for (statement, values) in [
        (PushStatements.replayPushes, "0, null, 4000000000000000, null, 500"),
        (PushStatements.replayBeginning, "0, 4000000000000000, 500"),
      ] {
        let plan = try await database.sql(
          """
          \(settings) set plan_cache_mode = \(mode); prepare s (\(statement.typeNames)) as \(statement.sql);
          explain (costs off) execute s (\(values))
          """)
        #expect(plan.contains("using push_log_enqueued_idx"), "\(plan)")
        #expect(!plan.contains("Seq Scan on push_log") && !plan.contains("Bitmap"), "\(plan)")
      }
    }
  }
}

extension HistoryEntry {
  fileprivate var withoutAttempts: HistoryEntry {
    HistoryEntry(
      claim: claim, claimedAt: claimedAt, instance: instance, wokenBy: wokenBy, releasedBy: releasedBy,
      releasedAt: releasedAt, wokenMicroseconds: 0, decidedMicroseconds: 0, situation: situation, decision: decision,
      reason: reason, dueMicroseconds: dueMicroseconds, remaining: remaining, attempts: [])
  }
}
