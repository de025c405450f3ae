import Foundation
import TemporalReferences
import Testing

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
