import PushStore
import Testing

@testable import ReadBench

@Suite("What stands out in a database")
struct BenchFindingsTests {
  @Test("nothing in a quick one")
  func quick() {
    #expect(BenchFigures.sample().findings(limitMicroseconds: 800) == [])
  }

  @Test(
    "a function that is slow at the median or at p99, by its name and its worst call",
    arguments: [(999, 9999, false), (1000, 9999, true), (999, 10_000, true)] as [(Int64, Int64, Bool)])
  func slow(_ p50: Int64, _ p99: Int64, _ isFound: Bool) {
    var figures = BenchFigures.sample()
    figures.calls = [.init(.seenBy, .of(p50, p99), worst: "look")]
    let finding = """
      tacet.seen_by is slow: \(BenchWords.time(p50)) at the median, \(BenchWords.time(p99)) at p99. Look at its slowest call: look
      """
    #expect(figures.findings() == (isFound ? [finding] : []))
  }

  @Test("the slowest function comes first")
  func order() {
    var figures = BenchFigures.sample()
    figures.calls = [.init(.seenBy, .of(1, 11_000)), .init(.unreadCount, .of(1, 12_000)), .init(.isMentioned, nil)]
    #expect(figures.findings().map { $0.prefix(13) } == ["tacet.unread_", "tacet.seen_by"])
  }

  @Test("an index is blamed only for a slow function that needs it")
  func indexes() {
    var figures = BenchFigures.sample()
    figures.missingIndexes = ["push_tokens_user_idx"]
    figures.calls = [.init(.pushTargets, .of(1, 2)), .init(.seenBy, .of(2000, 2000))]
    #expect(figures.findings().count == 1)
    #expect(!figures.findings()[0].contains("index"))
    figures.calls = [.init(.pushTargets, .of(2000, 2000))]
    #expect(figures.findings()[0].contains(" The index push_tokens_user_idx is missing or invalid: see tacet doctor."))
  }

  @Test("a slow network", arguments: [(1999, 0), (2000, 1)] as [(Int64, Int)])
  func network(_ p50: Int64, _ count: Int) {
    var figures = BenchFigures.sample()
    figures.roundTrip = .of(p50, p50)
    #expect(figures.findings().count == count)
  }

  @Test("messages of which more than half are gone", arguments: [(5, 0), (6, 1)])
  func gone(_ gone: Int, _ count: Int) {
    var figures = BenchFigures.sample()
    (figures.measured, figures.gone) = (10, gone)
    #expect(figures.findings().count == count)
  }

  @Test(
    "a read that is slower than the limit, which is also the exit code",
    arguments: [(700, 0), (699, 1)] as [(Int64, Int)])
  func limit(_ limit: Int64, _ count: Int) {
    let figures = BenchFigures.sample()
    #expect(figures.findings(limitMicroseconds: limit).count == count)
    #expect(figures.exitCode(limitMicroseconds: limit) == count)
    #expect(figures.exitCode(limitMicroseconds: nil) == 0)
  }

  @Test("no read at all is a failure, and nothing is estimated")
  func unread() {
    var figures = BenchFigures.sample()
    (figures.alone, figures.readsPerSecond) = (nil, 0)
    #expect(figures.exitCode(limitMicroseconds: nil) == 1)
    #expect(figures.share(ofRate: 100) == nil)
  }

  @Test("failures come first, with how often and an example")
  func failures() {
    var figures = BenchFigures.sample()
    figures.failures = [
      .init(what: "tacet.seen_by", cause: "does not end in time", example: "look", count: 3),
      .init(what: "the read of a message", cause: "fails", example: "7"),
    ]
    #expect(
      figures.findings() == ["tacet.seen_by does not end in time, 3 times: look", "the read of a message fails: 7"])
  }

  @Test(
    "times have two digits or more",
    arguments: [
      (0, "0 µs"), (999, "999 µs"), (1000, "1.0 ms"), (9999, "9.9 ms"), (10_000, "10 ms"), (999_999, "999 ms"),
      (1_000_000, "1.0 s"), (61_230_000, "61.2 s"),
    ] as [(Int64, String)])
  func times(_ microseconds: Int64, _ words: String) {
    #expect(BenchWords.time(microseconds) == words)
  }

  @Test(
    "numbers have one decimal",
    arguments: [(0, "0.0"), (0.04, "0.0"), (0.05, "0.1"), (12.34, "12.3"), (2e9, "999999.0")])
  func decimals(_ value: Double, _ words: String) {
    #expect(BenchWords.decimal(value) == words)
  }
}

extension Distribution {
  /// A hundred values.
  static func of(_ p50: Int64, _ p99: Int64) -> Distribution? {
    Distribution(Array(repeating: p50, count: 98) + [p99, p99])
  }
}

extension BenchFigures {
  /// Of a database in which nothing stands out.
  static func sample() -> BenchFigures {
    var figures = BenchFigures(
      server: MeasuredServer(version: 150_006, role: "app", ownsSchema: true, mayServe: true), host: "db.internal",
      source: .newest(table: "public.messages"), messages: 100, concurrency: 4)
    figures.measured = 100
    figures.roundTrip = .of(100, 200)
    figures.calls = [
      .init(.messageContext, .of(10, 20), worst: "look at m"), .init(.seenBy, .of(30, 40)), .init(.isMentioned, nil),
    ]
    (figures.recipients, figures.targets) = (.of(2, 250), .of(3, 251))
    (figures.alone, figures.together, figures.readsPerSecond) = (.of(300, 700), .of(900, 1500), 4000)
    return figures
  }
}
