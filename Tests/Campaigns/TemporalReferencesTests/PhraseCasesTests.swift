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
