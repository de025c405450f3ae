internal import Glibc
package import PushRules
internal import PushStore

/// Times as people and programs write them. Numbers are microseconds, those of instants since 1970.
package enum TimeText {
  private static let second: Int64 = 1_000_000
  private static let minute = 60 * second
  private static let hour = 60 * minute
  private static let day = 24 * hour

  /// A length of time in its two largest units, without its sign. `0.4 ms`, `12 ms`, `1.5 s`, `2 min 5 s`, `3 h 20 min`.
  package static func span(_ microseconds: Int64) -> String {
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

  static func span(_ length: Duration) -> String { span(length.wholeMicroseconds) }

  /// The same for seconds; what exceeds the microseconds of 64 bits is written as their maximum.
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

  private static func pair(
    _ length: Int64, _ large: Int64, _ largeName: String, _ small: Int64, _ smallName: String
  ) -> String {
    let rest = length % large / small
    return "\(length / large) \(largeName)" + (rest == 0 ? "" : " \(rest) \(smallName)")
  }

  /// One place behind the point, without it when it is 0.
  private static func decimal(_ length: Int64, unit: Int64) -> String {
    let tenths = length % unit / (unit / 10)
    return tenths == 0 ? "\(length / unit)" : "\(length / unit).\(tenths)"
  }

  private static func padded(_ number: Int64, _ places: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, places - digits.count)) + digits
  }
}

// Instants, days and times of the day in the forms of RFC 3339.
extension TimeText {
  /// What four digits of a year can say.
  private static let instants: ClosedRange<Int64> = -62_167_219_200_000_000...253_402_300_799_999_999

  /// The moment of the call, by the machine's clock.
  package static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * second + Int64(time.tv_nsec) / 1000
  }

  /// In UTC, cut to the millisecond, such as `2027-01-31T12:00:00.250Z`. Beyond the years 0 to 9999 the
  /// nearest instant of them is written.
  ///
  /// Written by hand: there is a log line for every push, and Foundation's formatting takes longer than all the rest of it.
  package static func instant(_ microseconds: Int64) -> String {
    let instant = min(max(microseconds, instants.lowerBound), instants.upperBound)
    let fraction = (instant % second + second) % second
    var (time, parts) = (Int((instant - fraction) / second), tm())
    gmtime_r(&time, &parts)
    return String(unsafeUninitializedCapacity: 24) { text in
      var end = 0
      func put(_ number: Int, digits: Int, then mark: Unicode.Scalar) {
        var rest = number
        for place in (end..<end + digits).reversed() {
          text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
        text[end + digits] = UInt8(ascii: mark)
        end += digits + 1
      }
      put(Int(parts.tm_year) + 1900, digits: 4, then: "-")
      put(Int(parts.tm_mon) + 1, digits: 2, then: "-")
      put(Int(parts.tm_mday), digits: 2, then: "T")
      put(Int(parts.tm_hour), digits: 2, then: ":")
      put(Int(parts.tm_min), digits: 2, then: ":")
      put(Int(parts.tm_sec), digits: 2, then: ".")
      put(Int(fraction / 1000), digits: 3, then: "Z")
      return end
    }
  }

  /// Minutes since midnight as `HH:MM`.
  package static func timeOfDay(minutes: Int) -> String {
    padded(Int64(minutes / 60), 2) + ":" + padded(Int64(minutes % 60), 2)
  }

  /// Reads `HH:MM` from 00:00 to 23:59; nil for anything else.
  package static func minutes(ofDay text: String) -> Int? {
    guard text.wholeMatch(of: /(?:[01][0-9]|2[0-3]):[0-5][0-9]/) != nil, let hour = Int(text.prefix(2)),
      let minute = Int(text.suffix(2))
    else { return nil }
    return hour * 60 + minute
  }
}

// Values of an answer's members; a member whose value is nil is left out.
extension PayloadValue? {
  package static func text(_ text: String?) -> Self { text.map { .string($0) } }

  package static func count(_ count: Int) -> Self { .integer(Int64(count)) }

  /// Microseconds since 1970, as text.
  package static func instant(_ microseconds: Int64?) -> Self { microseconds.map { .string(TimeText.instant($0)) } }

  /// A whole number is written without a point.
  /// - Parameter number: finite.
  package static func decimal(_ number: Double?) -> Self {
    guard let number else { return nil }
    if let whole = Int64(exactly: number) { return .integer(whole) }
    guard let finite = try? FiniteNumber(number) else { preconditionFailure("an answer's number is not finite") }
    return .number(finite)
  }

  package static func list(_ objects: [PayloadObject]) -> Self { .array(objects.map { .object($0) }) }
}

enum CountWords {
  static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
