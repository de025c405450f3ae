import Foundation
import TemporalReferences
import Testing

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
