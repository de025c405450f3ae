import Foundation

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
