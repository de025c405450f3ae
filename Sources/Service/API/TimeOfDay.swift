/// A local time to the minute, `HH:MM` from 00:00 to 23:59.
struct TimeOfDay: Equatable {
  /// Since midnight.
  let minutes: Int

  init(minutes: Int) {
    self.minutes = minutes
  }

  /// Nil for anything but two digits, a colon and two digits that make such a time.
  init?(_ text: String) {
    let digits = text.utf8.map { Int($0) - Int(UInt8(ascii: "0")) }
    guard digits.count == 5, text.dropFirst(2).first == ":",
      [digits[0], digits[1], digits[3], digits[4]].allSatisfy((0...9).contains)
    else { return nil }
    let (hour, minute) = (digits[0] * 10 + digits[1], digits[3] * 10 + digits[4])
    guard hour < 24, minute < 60 else { return nil }
    minutes = hour * 60 + minute
  }

  var text: String { Self.twoDigits(minutes / 60) + ":" + Self.twoDigits(minutes % 60) }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
