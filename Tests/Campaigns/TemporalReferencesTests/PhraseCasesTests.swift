import Foundation
import TemporalReferences
import Testing

@Suite("The phrases")
struct PhraseCasesTests {
  @Test("every phrase is read as the table says")
  func table() throws {
    for line in try CaseTable("phrases.txt").lines {
      let zone = line.setting.zone
      let found = line.setting.references(in: line.fields[0]).map { ExpectedReference($0, zone: zone) }
      let expected = try line.fields.dropFirst().filter { $0 != "none" }.map { try ExpectedReference($0, zone: zone) }
      #expect(found == expected, "line \(line.number): \(line.fields[0])")
    }
  }

  @Test("every prefix of every phrase is read without trapping, and no end is before its start")
  func prefixes() throws {
    for line in try CaseTable("phrases.txt").lines {
      let text = line.fields[0]
      for end in text.indices {
        let prefix = String(text[..<end])
        for reference in line.setting.references(in: prefix) {
          #expect(reference.start <= reference.end)
        }
      }
    }
  }
}

@Suite("Messages that the module was not built on")
struct HeldOutTests {
  @Test("at least nine of ten are judged as a reader would", arguments: ["held-out.txt", "held-out-2.txt"])
  func accuracy(name: String) throws {
    let lines = try CaseTable(name).lines
    let wrong = lines.filter { judgement(of: $0) != $0.fields[1] }
    for line in wrong { print("\(name):\(line.number) \(line.fields[0]): \(judgement(of: line))") }
    let accuracy = Double(lines.count - wrong.count) / Double(lines.count)
    print("\(name): \(lines.count - wrong.count) of \(lines.count) messages, accuracy \(accuracy)")
    #expect(accuracy >= 0.9)
  }

  /// The events and days that would be announced, or `none`. A midnight is of the day that it ends.
  private func judgement(of line: CaseTable.Line) -> String {
    let sure = line.setting.references(in: line.fields[0]).filter { $0.confidence >= 0.7 }
    let days = Set(
      sure.map { reference in
        let moment = reference.grain == .minute ? reference.start.addingTimeInterval(-1) : reference.start
        return "\(reference.event ?? "-") \(CivilText.text(moment, in: line.setting.zone).prefix(10))"
      })
    return days.isEmpty ? "none" : days.sorted().joined(separator: ", ")
  }
}

@Suite("Families of phrases")
struct FamilyTests {
  /// What would come of a message, compared with what should.
  private struct Score {
    var lines = 0
    var right = 0
    var missed = 0
    /// Sure of a day on which nothing is.
    var wrongDays = 0
    var negatives = 0
    /// Sure of something where there is nothing.
    var falseCheckIns = 0

    mutating func add(_ other: Score) {
      lines += other.lines
      right += other.right
      missed += other.missed
      wrongDays += other.wrongDays
      negatives += other.negatives
      falseCheckIns += other.falseCheckIns
    }
  }

  @Test("no sure day is wrong, one check-in in a hundred at most is false, and nine of ten messages are read whole")
  func english() throws {
    var total = Score()
    for name in [
      "families.txt", "families-held-out.txt", "families-blind.txt", "families-chat.txt", "families-last.txt",
    ] {
      total.add(try score(name, TemporalReferenceFinder()))
    }
    Self.show("all", total)
    #expect(total.wrongDays == 0)
    #expect(total.negatives >= 700)
    #expect(Double(total.falseCheckIns) <= 0.01 * Double(total.negatives))
    #expect(Double(total.right) >= 0.9 * Double(total.lines))
  }

  @Test("a table is all that German needs")
  func german() throws {
    let total = try score("families-german.txt", TemporalReferenceFinder(language: .german))
    #expect(total.wrongDays == 0)
    #expect(total.falseCheckIns == 0)
    #expect(Double(total.right) >= 0.8 * Double(total.lines))
  }

  /// What the sets of edges came to when they were recorded; no rule may lose more than it wins.
  @Test(
    "own, ahead, real and once: no set of edges is read worse than recorded",
    arguments: [
      ("judgement.txt", "en", (right: 530, missed: 23, wrong: 0, false: 4)),
      ("judgement-german.txt", "de", (right: 69, missed: 1, wrong: 0, false: 0)),
    ])
  func judgement(
    name: String, language: String, recorded: (right: Int, missed: Int, wrong: Int, false: Int)
  ) throws {
    let total = try score(name, TemporalReferenceFinder(language: .ofLocale(language)))
    Self.show(name, total)
    #expect(total.right >= recorded.right)
    #expect(total.missed <= recorded.missed)
    #expect(total.wrongDays <= recorded.wrong)
    #expect(total.falseCheckIns <= recorded.false)
  }

  private func score(_ name: String, _ finder: TemporalReferenceFinder) throws -> Score {
    var families: [String: Score] = [:]
    for line in try CaseTable(name).lines {
      let score = Self.score(of: line, finder)
      if score.right == 0 { print("\(name):\(line.number) \(line.fields[1]): \(Self.found(in: line, finder))") }
      families[line.fields[0], default: Score()].add(score)
    }
    for (family, score) in families.sorted(by: { $0.key < $1.key }) { Self.show(family, score) }
    return families.values.reduce(into: Score()) { $0.add($1) }
  }

  private static func score(of line: CaseTable.Line, _ finder: TemporalReferenceFinder) -> Score {
    let isNegative = line.fields[2] == "none"
    let wanted = isNegative ? [] : line.fields[2].split(separator: ",").map { Expected($0) }
    let found = found(in: line, finder)
    var score = Score(lines: 1, negatives: isNegative ? 1 : 0)
    if found.contains(where: { sure in !wanted.contains { $0.day == sure.day } }) {
      if isNegative { score.falseCheckIns = 1 } else { score.wrongDays = 1 }
    } else if !wanted.allSatisfy({ want in found.contains { $0.day == want.day } }) {
      score.missed = 1
    } else if wanted.allSatisfy({ want in found.contains { $0.satisfies(want) } }) {
      score.right = 1
    }
    return score
  }

  private static func found(in line: CaseTable.Line, _ finder: TemporalReferenceFinder) -> [Expected] {
    let setting = line.setting
    let reading = finder.reading(
      of: line.fields[1], writtenAt: setting.writtenAt, zone: setting.rules, dateOrder: setting.order)
    return reading.references.filter { $0.confidence >= 0.7 }.map { Expected($0, in: setting.zone) }
  }

  private static func show(_ name: String, _ score: Score) {
    print(
      "\(name): \(score.right) of \(score.lines) right, \(score.missed) missed, \(score.wrongDays) wrong days,",
      "\(score.falseCheckIns) false check-ins of \(score.negatives)")
  }
}

/// An event, its day, and its time when the message names one.
private struct Expected: CustomStringConvertible {
  let day: Substring
  let time: Substring?
  let event: String

  init(_ text: some StringProtocol) {
    let words = text.split(separator: " ", maxSplits: 1).map { Substring($0) }
    let moment = words[0].split(separator: "T")
    day = moment[0]
    time = moment.count > 1 ? moment[1] : nil
    event = words.count > 1 ? String(words[1]) : "*"
  }

  init(_ reference: TemporalReference, in zone: TimeZone) {
    let moment = CivilText.text(reference.start, in: zone).split(separator: "T")
    day = moment[0]
    time = reference.grain == .minute ? moment[1] : nil
    event = reference.event ?? "-"
  }

  func satisfies(_ other: Expected) -> Bool {
    day == other.day && (other.time == nil || time == other.time) && (other.event == "*" || event == other.event)
  }

  var description: String { "\(day) \(time ?? "") \(event)" }
}

/// The lines of a file of cases: what stands between bars, and when and where it was written.
struct CaseTable {
  struct Line {
    let number: Int
    let fields: [String]
    let setting: Setting
  }

  let lines: [Line]

  init(_ name: String) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases/\(name)")
    let text = try String(contentsOf: file, encoding: .utf8)
    var setting: Setting?
    var lines: [Line] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty || line.hasPrefix("#") { continue }
      if line.hasPrefix("@") {
        setting = try Setting(String(line.dropFirst()))
        continue
      }
      guard let setting else { throw CaseError("line \(index + 1) of \(name) has no setting") }
      let fields = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      lines.append(Line(number: index + 1, fields: fields, setting: setting))
    }
    self.lines = lines
  }
}

/// When and where messages were written, and how dates in digits are read there.
struct Setting {
  let writtenAt: Date
  let zone: TimeZone
  let rules: ZoneRules
  let order: NumericDateOrder

  init(_ text: String) throws {
    let parts = text.split(separator: " ").map(String.init)
    guard parts.count == 3, let zone = TimeZone(identifier: parts[1]),
      let rules = ZoneDirectory.system.rules(of: parts[1]), let order = NumericDateOrder(rawValue: parts[2])
    else { throw CaseError("not a setting: \(text)") }
    self.zone = zone
    self.rules = rules
    self.order = order
    writtenAt = try CivilText.instant(parts[0], in: zone)
  }

  func references(in text: String) -> [TemporalReference] {
    TemporalReferenceFinder().reading(of: text, writtenAt: writtenAt, zone: rules, dateOrder: order).references
  }
}

struct CaseError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// What a line of the cases says of one reference.
struct ExpectedReference: Equatable, CustomStringConvertible {
  let start: Date
  let end: Date
  let grain: String
  let event: String?
  let standing: String
  let isSure: Bool
  private let zone: TimeZone

  init(_ text: String, zone: TimeZone) throws {
    var words = text.split(separator: " ").map(String.init)
    guard words.count >= 5 else { throw CaseError("not an expectation: \(text)") }
    let times = words.removeFirst().split(separator: ".", omittingEmptySubsequences: true).map(String.init)
    self.zone = zone
    grain = words.removeFirst()
    isSure = try words.removeLast().isSure
    standing = words.removeLast()
    let event = words.joined(separator: " ")
    self.event = event == "-" ? nil : event
    start = try CivilText.instant(times[0], in: zone)
    end =
      times.count == 2
      ? try CivilText.instant(times[1], in: zone) : grain == "day" ? CivilText.nextDay(after: start, in: zone) : start
  }

  init(_ reference: TemporalReference, zone: TimeZone) {
    start = reference.start
    end = reference.end
    grain = reference.grain.rawValue
    event = reference.event
    standing = reference.standing.rawValue
    isSure = reference.confidence >= 0.7
    self.zone = zone
  }

  var description: String {
    let times = "\(CivilText.text(start, in: zone))..\(CivilText.text(end, in: zone))"
    return "\(times) \(grain) \(event ?? "-") \(standing) \(isSure ? "sure" : "unsure")"
  }
}

extension String {
  fileprivate var isSure: Bool {
    get throws {
      switch self {
      case "sure": true
      case "unsure": false
      default: throw CaseError("neither sure nor unsure: \(self)")
      }
    }
  }
}

/// Civil times as the cases write them, by Foundation's calendar, so that the module is not its own judge.
enum CivilText {
  /// The instant of `2026-03-11`, `2026-03-11T15:30`, or `2026-03-11T15:30Z` for UTC.
  static func instant(_ text: String, in zone: TimeZone) throws -> Date {
    let isUniversal = text.hasSuffix("Z")
    let numbers = text.split { "-T:Z".contains($0) }.compactMap { Int($0) }
    guard numbers.count == 3 || numbers.count == 5 else { throw CaseError("not a civil time: \(text)") }
    let components = DateComponents(
      year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers.count == 5 ? numbers[3] : 0,
      minute: numbers.count == 5 ? numbers[4] : 0)
    guard let date = calendar(isUniversal ? .gmt : zone).date(from: components) else {
      throw CaseError("no such time: \(text)")
    }
    return date
  }

  /// The day and time of an instant, as the cases write them.
  static func text(_ instant: Date, in zone: TimeZone) -> String {
    let parts = calendar(zone).dateComponents([.year, .month, .day, .hour, .minute], from: instant)
    let numbers = [parts.year, parts.month, parts.day, parts.hour, parts.minute].map { $0 ?? -1 }
    let padded = numbers.map { $0 < 10 ? "0\($0)" : "\($0)" }
    return padded[0...2].joined(separator: "-") + "T" + padded[3...4].joined(separator: ":")
  }

  /// The beginning of the civil day after that of an instant.
  static func nextDay(after instant: Date, in zone: TimeZone) -> Date {
    let calendar = calendar(zone)
    return calendar.date(byAdding: .day, value: 1, to: calendar.startOfDay(for: instant)) ?? instant
  }

  private static func calendar(_ zone: TimeZone) -> Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    return calendar
  }
}
