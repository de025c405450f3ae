/// A time of the user's day, as a slot names it: `0800`. It does not change with the user's zone.
public struct SlotTime: Hashable, Sendable {
  /// Minutes since 00:00 on the clock, 0 to 1439.
  public let minutes: Int

  /// Reads `HHmm`: exactly four ASCII digits, `0000` to `2359`. Nil for any other text.
  public init?(_ text: String) {
    guard text.utf8.count == 4, let digits = DecimalDigits.number(text.utf8) else { return nil }
    let (hour, minute) = digits.quotientAndRemainder(dividingBy: 100)
    guard hour < 24, minute < 60 else { return nil }
    minutes = hour * 60 + minute
  }

  /// The time with a colon, as the token `time` shows it: `08:00`.
  public var clockText: String {
    DecimalDigits.text(minutes / 60, width: 2) + ":" + DecimalDigits.text(minutes % 60, width: 2)
  }
}

extension SlotTime: Comparable {
  /// Earlier in the day.
  public static func < (left: Self, right: Self) -> Bool { left.minutes < right.minutes }
}

extension SlotTime: CustomStringConvertible {
  /// The four digits: `0800`.
  public var description: String { DecimalDigits.text(minutes / 60 * 100 + minutes % 60, width: 4) }
}

/// Numbers of a fixed width, without a locale.
enum DecimalDigits {
  /// The number of ASCII digits; nil with any other byte. For at most 18 digits.
  static func number(_ bytes: some Sequence<UInt8>) -> Int? {
    var number = 0
    for byte in bytes {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }

  /// A number from 0, with leading zeros.
  static func text(_ number: Int, width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
