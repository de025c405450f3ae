import Foundation
import TemporalReferences

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
  let order: NumericDateOrder

  init(_ text: String) throws {
    let parts = text.split(separator: " ").map(String.init)
    guard parts.count == 3, let zone = TimeZone(identifier: parts[1]), let order = NumericDateOrder(rawValue: parts[2])
    else { throw CaseError("not a setting: \(text)") }
    self.zone = zone
    self.order = order
    writtenAt = try CivilText.instant(parts[0], in: zone)
  }

  func references(in text: String) -> [TemporalReference] {
    TemporalReferenceFinder().references(in: text, writtenAt: writtenAt, zone: zone, dateOrder: order)
  }
}

struct CaseError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
