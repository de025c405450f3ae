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
