internal import FoundationEssentials

/// Times as people read them. All numbers are microseconds.
enum TimeText {
  private static let second: Int64 = 1_000_000
  private static let minute = 60 * second
  private static let hour = 60 * minute
  private static let day = 24 * hour

  /// A length of time by its two largest units; its sign is not shown. `0.4 ms`, `12 ms`, `1.5 s`, `2 min 5 s`, `3 h 20 min`.
  static func span(_ microseconds: Int64) -> String {
    let length = Int64(clamping: microseconds.magnitude)
    return switch length {
    case ..<(10_000): decimal(length, unit: 1000) + " ms"
    case ..<second: "\(length / 1000) ms"
    case ..<(10 * second): decimal(length, unit: second) + " s"
    case ..<minute: "\(length / second) s"
    case ..<hour: pair(length, minute, "min", second, "s")
    case ..<day: pair(length, hour, "h", minute, "min")
    default: pair(length, day, "d", hour, "h")
    }
  }

  /// The same for seconds; what is longer than a number of microseconds is told as the longest.
  static func span(seconds: Double) -> String {
    span(Int64(exactly: (seconds * 1_000_000).rounded(.towardZero)) ?? .max)
  }

  /// Since the commit, to the tenth of a millisecond, above 100 s to the millisecond: `4.2 ms`, `-0.3 ms`, `1:02:03.004`.
  static func offset(_ microseconds: Int64) -> String {
    let sign = microseconds < 0 ? "-" : ""
    let length = Int64(clamping: microseconds.magnitude)
    guard length >= 100 * second else { return "\(sign)\(length / 1000).\(length % 1000 / 100) ms" }
    let clock = [length % hour / minute, length % minute / second].map { padded($0, 2) }.joined(separator: ":")
    return "\(sign)\(length / hour):\(clock).\(padded(length % second / 1000, 3))"
  }

  /// In UTC with milliseconds, as RFC 3339 writes it. Whole seconds are formatted and the rest is put behind them,
  /// because a date counts in binary fractions and would print many a millisecond as the one before.
  static func instant(_ microseconds: Int64) -> String {
    var (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: second)
    if rest < 0 { (seconds, rest) = (seconds - 1, rest + second) }
    let date = Date(timeIntervalSince1970: Double(seconds)).formatted(Date.ISO8601FormatStyle())
    return "\(date.dropLast()).\(padded(rest / 1000, 3))Z"
  }

  private static func pair(
    _ length: Int64, _ large: Int64, _ largeName: String, _ small: Int64, _ smallName: String
  ) -> String {
    let rest = length % large / small
    return "\(length / large) \(largeName)" + (rest == 0 ? "" : " \(rest) \(smallName)")
  }

  /// One place behind the point, none when it is 0.
  private static func decimal(_ length: Int64, unit: Int64) -> String {
    let tenths = length % unit / (unit / 10)
    return tenths == 0 ? "\(length / unit)" : "\(length / unit).\(tenths)"
  }

  private static func padded(_ number: Int64, _ places: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, places - digits.count)) + digits
  }
}
