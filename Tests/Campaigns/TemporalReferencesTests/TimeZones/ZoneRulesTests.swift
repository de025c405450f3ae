import Testing

@testable import TemporalReferences

@Suite("The rules of a zone")
struct ZoneRulesTests {
  @Test(
    "both sides of each change",
    arguments: [
      (.min, 3600), (-1_001, 3600), (-1_000, 7200), (999, 7200), (1_000, 3600), (999_999_999, 3600),
      (1_000_000_000, 7200),
    ] as [(Int64, Int)])
  func changes(seconds: Int64, offset: Int) throws {
    for sample in [northern, tableOnly, firstVersion] {
      #expect(try ZoneRules(sample.bytes).offset(at: seconds) == offset)
    }
  }

  @Test("without a rule the last offset goes on for ever", arguments: [tableOnly, firstVersion])
  func lastOffset(sample: SampleFile) throws {
    let rules = try ZoneRules(sample.bytes)
    #expect(rules.nextChange(after: 999_999_999) == ZoneChange(at: 1_000_000_000, offset: 7200))
    for seconds in [1_000_000_000, 1_000_000_001, 1_767_225_600, .max] as [Int64] {
      #expect(rules.offset(at: seconds) == 7200 && rules.nextChange(after: seconds) == nil)
    }
  }

  @Test("a rule begins with the last change, and goes on for ever")
  func rule() throws {
    let rules = try ZoneRules(northern.bytes)
    let (spring, autumn) = (try unix("2026-03-29T01:00:00Z"), try unix("2026-10-25T01:00:00Z"))
    #expect(rules.nextChange(after: 1_000_000_000)?.at == (try unix("2001-10-28T01:00:00Z")))
    #expect(rules.nextChange(after: spring - 1) == ZoneChange(at: spring, offset: 7200))
    #expect(rules.nextChange(after: spring) == ZoneChange(at: autumn, offset: 3600))
    #expect(rules.offset(at: spring - 1) == 3600 && rules.offset(at: spring) == 7200)
    #expect(rules.offset(at: autumn - 1) == 7200 && rules.offset(at: autumn) == 3600)
    #expect(rules.nextChange(after: .max) == nil)
  }

  @Test("without a transition the rule counts always; without a rule the first type does")
  func noTransition() throws {
    let ruled = try ZoneRules(SampleFile(offsets: [5], footer: northern.footer).bytes)
    #expect(ruled.offset(at: 0) == 3600)
    #expect(ruled.nextChange(after: 0)?.at == (try unix("1970-03-29T01:00:00Z")))
    #expect(try #require(ruled.nextChange(after: .min)).at < .min + 366 * 86_400)
    let typed = try ZoneRules(SampleFile(offsets: [5, 6]).bytes)
    #expect(typed.offset(at: 0) == 5 && typed.nextChange(after: .min) == nil)
  }

  @Test("a transition to the same offset is no change")
  func sameOffset() throws {
    let sample = SampleFile(
      transitions: [(-10, 1), (0, 0), (10, 2), (20, 1), (30, 2), (40, 0)], offsets: [3600, 3600, 7200],
      footer: "\nCET-1\n")
    let rules = try ZoneRules(sample.bytes)
    var changes: [ZoneChange] = []
    while let next = rules.nextChange(after: changes.last?.at ?? .min) { changes.append(next) }
    #expect(changes == [(10, 7200), (20, 3600), (30, 7200), (40, 3600)].map { ZoneChange(at: $0, offset: $1) })
  }

  @Test("where the last transition and the rule differ, the rule counts")
  func contradiction() throws {
    let transitions: [(Int64, UInt8)] = [(0, 1), (10, 0)]
    let rules = try ZoneRules(SampleFile(transitions: transitions, offsets: [0, 60], footer: "\nAAA-2\n").bytes)
    #expect(rules.offset(at: 9) == 60 && rules.offset(at: 10) == 7200)
    #expect(rules.nextChange(after: 9) == ZoneChange(at: 10, offset: 7200) && rules.nextChange(after: 10) == nil)
    let unchanged = try ZoneRules(SampleFile(transitions: transitions, offsets: [0, 60], footer: "\nAAA-0:01\n").bytes)
    #expect(unchanged.nextChange(after: 0) == nil)
  }

  @Test("before its first moment the rule changes nothing")
  func beforeRule() throws {
    let start = try unix("2026-01-15T00:00:00Z")
    let sample = SampleFile(transitions: [(0, 1), (start, 0)], offsets: [3600, 3600], footer: northern.footer)
    let rules = try ZoneRules(sample.bytes)
    let spring = ZoneChange(at: try unix("2026-03-29T01:00:00Z"), offset: 7200)
    for moment in [.min, 0, try unix("2025-07-01T00:00:00Z"), start - 1, start] {
      #expect(rules.offset(at: moment) == 3600 && rules.nextChange(after: moment) == spring)
    }
  }

  @Test("changes at the ends of time")
  func extremes() throws {
    let rules = try ZoneRules(SampleFile(transitions: [(.min, 1), (.max, 2)], offsets: [0, 1, 2]).bytes)
    #expect(rules.offset(at: .min) == 1 && rules.offset(at: .max - 1) == 1 && rules.offset(at: .max) == 2)
    #expect(rules.nextChange(after: .min) == ZoneChange(at: .max, offset: 2) && rules.nextChange(after: .max) == nil)
  }

  @Test(
    "gaps and overlaps of real zones",
    arguments: [
      ("Europe/Berlin", "2026-03-29T01:00:00Z", 60, 120), ("Europe/Berlin", "1980-04-06T01:00:00Z", 60, 120),
      ("Europe/Dublin", "2026-10-25T01:00:00Z", 60, 0), ("America/New_York", "2026-11-01T06:00:00Z", -240, -300),
      ("Australia/Lord_Howe", "2026-04-04T15:00:00Z", 660, 630),
      ("America/St_Johns", "2040-03-11T05:30:00Z", -210, -150),
      // A day that was left out, and one that was told twice.
      ("Pacific/Apia", "2011-12-30T10:00:00Z", -600, 840), ("Pacific/Kwajalein", "1993-08-21T12:00:00Z", -720, 720),
      ("Asia/Kathmandu", "1985-12-31T18:30:00Z", 330, 345), ("Africa/Casablanca", "2026-02-15T02:00:00Z", 60, 0),
      ("Antarctica/Troll", "2050-03-27T01:00:00Z", 0, 120), ("Africa/Cairo", "2090-10-26T21:00:00Z", 180, 120),
    ])
  func realChanges(name: String, at: String, before: Int, after: Int) throws {
    let rules = try ZoneRules(systemFile(name))
    let at = try unix(at)
    #expect(rules.offset(at: at - 1) == before * 60 && rules.offset(at: at) == after * 60)
    #expect(rules.nextChange(after: at - 1) == ZoneChange(at: at, offset: after * 60))
  }
}
