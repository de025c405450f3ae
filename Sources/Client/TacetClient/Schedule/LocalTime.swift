internal import Foundation

/// A moment on a device's clock in any zone, such as `2026-11-22T08:00:00`.
struct LocalTime: Hashable, Sendable {
  /// Seconds since 1970 if the zone were UTC.
  private let seconds: Int

  /// Nil for a text of another form, and for a day or time that does not exist.
  init?(_ text: String) {
    let bytes = Array(text.utf8.prefix(20))
    guard bytes.count == 19, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54, bytes[13] == 0x3A, bytes[16] == 0x3A
    else { return nil }
    func number(_ range: Range<Int>) -> Int? {
      bytes[range].reduce(Int?(0)) { number, byte in
        guard let number, (0x30...0x39).contains(byte) else { return nil }
        return number * 10 + Int(byte - 0x30)
      }
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      year >= 1970, hour < 24, minute < 60, second < 60
    else { return nil }
    let parts = DateComponents(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    let calendar = Calendar.gregorian(in: .gmt)
    guard let date = calendar.date(from: parts),
      calendar.dateComponents([.year, .month, .day], from: date)
        == DateComponents(year: year, month: month, day: day)
    else { return nil }
    seconds = Int(date.timeIntervalSince1970)
  }

  /// The moment in a zone. A time that the clocks skip moves on by the gap; one that they show twice is the first
  /// (RFC 5545 §3.3.5).
  func date(in zone: TimeZone) -> Date {
    let local = Date(timeIntervalSince1970: Double(seconds))
    // Days away, so that at most one change of the clocks is between the two.
    let offsets = [-86_400.0, 86_400.0].map { zone.secondsFromGMT(for: local.addingTimeInterval($0)) }
    let dates = offsets.map { local.addingTimeInterval(-Double($0)) }
    let real = zip(offsets, dates).filter { zone.secondsFromGMT(for: $1) == $0 }.map(\.1)
    return real.min() ?? dates[0]
  }
}

extension Calendar {
  /// The calendar of the service's days.
  static func gregorian(in zone: TimeZone) -> Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    return calendar
  }
}
