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

  @Test("every prefix of every phrase is read without trapping, and its spans lie within it")
  func prefixes() throws {
    for line in try CaseTable("phrases.txt").lines {
      let text = line.fields[0]
      for end in text.indices {
        let prefix = String(text[..<end])
        for reference in line.setting.references(in: prefix) {
          #expect(reference.span.upperBound <= prefix.utf8.count && !reference.span.isEmpty)
          #expect(reference.start <= reference.end)
        }
      }
    }
  }

  @Test("at least a third of the table is what must not be announced")
  func negatives() throws {
    let lines = try CaseTable("phrases.txt").lines
    let negatives = lines.filter { line in line.fields.dropFirst().allSatisfy { !$0.hasSuffix(" sure") } }
    #expect(lines.count >= 220)
    #expect(negatives.count * 3 >= lines.count, "\(negatives.count) of \(lines.count)")
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
