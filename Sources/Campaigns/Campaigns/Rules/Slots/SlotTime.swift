internal import TemporalReferences

/// A time of the user's day, as a slot names it: `0800`. It does not change with the user's zone.
package struct SlotTime: Hashable, Sendable {
  /// Minutes since 00:00 on the clock, 0 to 1439.
  package let minutes: Int

  /// Reads `HHmm`: exactly four ASCII digits, `0000` to `2359`. Nil for any other text.
  package init?(_ text: String) {
    guard text.utf8.count == 4, let digits = DecimalDigits.number(text.utf8) else { return nil }
    let (hour, minute) = digits.quotientAndRemainder(dividingBy: 100)
    guard hour < 24, minute < 60 else { return nil }
    minutes = hour * 60 + minute
  }

  /// The time with a colon, as the token `time` shows it: `08:00`.
  package var clockText: String {
    DecimalDigits.text(minutes / 60, width: 2) + ":" + DecimalDigits.text(minutes % 60, width: 2)
  }
}

extension SlotTime: Comparable {
  package static func < (left: Self, right: Self) -> Bool { left.minutes < right.minutes }
}

extension SlotTime: CustomStringConvertible {
  /// The four digits: `0800`.
  package var description: String { DecimalDigits.text(minutes / 60 * 100 + minutes % 60, width: 4) }
}
