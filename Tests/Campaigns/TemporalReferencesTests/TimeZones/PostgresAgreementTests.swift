import Foundation
import TestPostgres
import TestProcesses
import TestRandomness
import Testing

@testable import TemporalReferences

@Suite("PostgreSQL says the same")
struct PostgresAgreementTests {
  /// 1970 to 2100. The shortest time between two changes of the database's zones is four weeks, in Morocco's Ramadan.
  private static let grid = ZoneGrid(start: 0, end: 4_133_980_800, step: 7 * 86_400)

  /// With every day of the week and every leap year.
  private static let ruleGrid = ZoneGrid(start: 0, end: 58 * 31_556_952, step: 2 * 86_400)

  /// All year, winter time, over New Year, the last week, leap days, and days before and after.
  private static let unusualRules = [
    "XXX3EDT4,0/0,J365/23", "EST5EDT,0/0,J365/25", "IST-1GMT0,M10.5.0,M3.5.0/1", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
    "EET-2EEST,M3.4.4/50,M10.4.4/50", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "AAA0BBB,M2.5.0/0,M2.4.0/0",
    "AAA0BBB,J60/0,59/12", "AAA0BBB,59/0,J60/12", "AAA0BBB,J364/0,J3/0", "AAA0BBB,365/0,0/-1", "AAA12BBB11,J1/0,J2/0",
    "AAA-14BBB,J1/-167,J365/167", "AAA0BBB,J365/100,J365/167", "AAA0BBB,J365/167:30,J365/160",
    "AAA-12BBB12,M12.5.0/24,M1.1.0/-24", "UTC0", "<+0545>-5:45",
  ]

  /// The names of zones whose files have the same content.
  private typealias Alike = [String]

  private struct Tally {
    var transitions = 0
    var differences: [String] = []
  }

  @Test("every zone has PostgreSQL's offsets on both sides of every change from 1970 to 2100, and between them")
  func zones() async throws {
    let server = try await TestPostgres.shared
    let names = try await server.psql("select name from pg_timezone_names where name not like 'posix/%'")
    let folder = try Self.folder()
    let zones = Self.alike(names.split(separator: "\n").map(String.init), in: folder)
    #expect(zones.count >= 300 && zones.joined().count >= 500)
    let conninfo = server.conninfo()
    async let first = Self.compare(zones.prefix(zones.count / 2), in: folder, conninfo)
    async let second = Self.compare(zones.dropFirst(zones.count / 2), in: folder, conninfo)
    let tallies = try await [first, second]
    #expect(tallies.flatMap(\.differences) == [])
    #expect(tallies.map(\.transitions).reduce(0, +) >= 20_000)
  }

  @Test("a rule has PostgreSQL's offsets on both sides of every change, and between them")
  func rules() async throws {
    let conninfo = try await TestPostgres.shared.conninfo()
    let seed = UInt64.random(in: 0...UInt64.max)
    let tally = try await onOwnThread {
      let clock = try PostgresClock(conninfo)
      var (tally, random) = (Tally(), SeededGenerator(seed: seed))
      for rule in Self.unusualRules + (0..<80).map({ _ in RandomRule.text(&random) }) {
        let rules = try ZoneRules(SampleFile(footer: "\n\(rule)\n").bytes)
        try Self.compare(rules, rule, clock, on: Self.ruleGrid, &tally)
      }
      return tally
    }
    #expect(tally.differences == [], "seed \(seed)")
    #expect(tally.transitions >= 5_000)
  }

  private static func compare(_ zones: ArraySlice<Alike>, in folder: String, _ conninfo: String) async throws -> Tally {
    try await onOwnThread {
      let clock = try PostgresClock(conninfo)
      let directory = ZoneDirectory(path: folder)
      var tally = Tally()
      for names in zones {
        let unread = names.filter { directory.rules(of: $0) == nil }
        tally.differences += unread.map { "\($0) is unusable" }
        guard unread.isEmpty, let rules = directory.rules(of: names[0]) else { continue }
        try compare(rules, names[0], clock, on: grid, &tally)
      }
      return tally
    }
  }

  private static func compare(
    _ rules: ZoneRules, _ name: String, _ clock: PostgresClock, on grid: ZoneGrid, _ tally: inout Tally
  ) throws {
    let moments = rules.changes(after: grid.start, through: grid.end).flatMap { [$0.at - 1, $0.at] }
    let theirs = moments.isEmpty ? [] : try clock.offsets(in: name, at: moments)
    let ours = moments.map(rules.offset(at:))
    for (moment, pair) in zip(moments, zip(ours, theirs)) where pair.0 != pair.1 {
      tally.differences.append("\(name) at \(moment): \(pair)")
    }
    if theirs.count != moments.count { tally.differences.append("\(name): \(theirs.count) of \(moments.count)") }
    if grid.changes(of: rules) != (try clock.changes(in: name, on: grid)) { tally.differences.append("\(name): grid") }
    tally.transitions += moments.count / 2
  }

  /// Zones in groups of equal files, as `Europe/Berlin` and its links. Those of the server's own zone and those that the
  /// folder does not have are left out.
  private static func alike(_ names: [String], in folder: String) -> [Alike] {
    var zones: [Data: Alike] = [:]
    for name in names.sorted() where name != "localtime" {
      guard let file = FileManager.default.contents(atPath: folder + "/" + name) else { continue }
      zones[file, default: []].append(name)
    }
    return zones.values.sorted { $0[0] < $1[0] }
  }

  /// Where the server has its zones: the system's, or its own.
  private static func folder() throws -> String {
    let lines = try run([TestPostgres.binaries + "/pg_config", "--configure", "--sharedir"]).split(separator: "\n")
    let option = lines.first?.firstMatch(of: /--with-system-tzdata=([^' ]+)/)
    if let option { return String(option.1) }
    return try #require(lines.last) + "/timezone"
  }
}

/// A rule with two offsets, in any of the forms of its days and times.
///
/// Without seconds in its offsets, which PostgreSQL takes for leap seconds.
private enum RandomRule {
  static func text(_ random: inout SeededGenerator) -> String {
    let hours = [24, 167].randomElement(using: &random) ?? 24
    let offsets = (0..<2).map { _ in offset(&random) }
    let moments = (0..<2).map { _ in day(&random) + "/" + time(hours, &random) }
    return "AAA\(offsets[0])BBB\(offsets[1]),\(moments[0]),\(moments[1])"
  }

  private static func offset(_ random: inout SeededGenerator) -> String {
    "\(Int.random(in: -14...14, using: &random)):\(Int.random(in: 10...59, using: &random))"
  }

  private static func day(_ random: inout SeededGenerator) -> String {
    switch Int.random(in: 0...3, using: &random) {
    case 0: return "J\(Int.random(in: 1...365, using: &random))"
    case 1: return "\(Int.random(in: 0...365, using: &random))"
    default:
      let numbers = [1...12, 1...5, 0...6].map { Int.random(in: $0, using: &random) }
      return "M\(numbers[0]).\(numbers[1]).\(numbers[2])"
    }
  }

  private static func time(_ hours: Int, _ random: inout SeededGenerator) -> String {
    "\(Int.random(in: -hours...hours, using: &random)):\(Int.random(in: 10...59, using: &random)):01"
  }
}

/// PostgreSQL's offsets in one zone after another, over one session. For one thread.
final class PostgresClock {
  private let session: PsqlSession

  init(_ conninfo: String) throws {
    session = try PsqlSession(conninfo)
  }

  /// The offsets at some moments, in their order.
  func offsets(in zone: String, at moments: [Int64]) throws -> [Int] {
    let list = moments.map { "\($0)" }.joined(separator: ",")
    let text = try session.run(
      """
      set timezone = '\(zone)';
      select string_agg(date_part('timezone', to_timestamp(t))::text, ',' order by n)
      from unnest('{\(list)}'::bigint[]) with ordinality as m (t, n);
      """)
    return text.split(separator: ",").compactMap { Int($0) }
  }

  /// What is seen of a zone on a grid.
  func changes(in zone: String, on grid: ZoneGrid) throws -> [ZoneChange] {
    let text = try session.run(
      """
      set timezone = '\(zone)';
      select t, date_part('timezone', to_timestamp(t))
      from generate_series(\(grid.start), \(grid.end), \(grid.step)) as t
      where t = \(grid.start)
        or date_part('timezone', to_timestamp(t)) <> date_part('timezone', to_timestamp(t - \(grid.step)))
      order by t;
      """)
    return text.split(separator: "\n").compactMap { line in
      let numbers = line.split(separator: "|").compactMap { Int64($0) }
      return numbers.count == 2 ? ZoneChange(at: numbers[0], offset: Int(numbers[1])) : nil
    }
  }
}

/// Moments at equal distances, to look at a zone's offset.
struct ZoneGrid {
  let start: Int64
  let end: Int64
  let step: Int64

  /// The first moment of the grid with its offset, and those whose offset differs from the one before.
  func changes(of rules: ZoneRules) -> [ZoneChange] {
    var seen = [ZoneChange(at: start, offset: rules.offset(at: start))]
    for change in rules.changes(after: start, through: end) {
      let at = start + (change.at - start + step - 1) / step * step
      // Of several changes between two moments the last is seen.
      if seen.last?.at == at { seen.removeLast() }
      if at <= end, seen.last?.offset != change.offset { seen.append(ZoneChange(at: at, offset: change.offset)) }
    }
    return seen
  }
}

extension ZoneRules {
  /// All changes of a time.
  func changes(after start: Int64, through end: Int64) -> [ZoneChange] {
    var found: [ZoneChange] = []
    while let next = nextChange(after: found.last?.at ?? start), next.at <= end { found.append(next) }
    return found
  }
}
