/// A time of day as written.
struct ClockReading: Equatable {
  /// From midnight, `0 ... 1,440`; on the twelve-hour clock's first half when ``isAmbiguous``.
  let minutes: Int
  /// Whether it could be of either half of the day.
  let isAmbiguous: Bool

  /// A time whose half of the day is known or does not matter.
  init(minutes: Int) {
    self.minutes = minutes
    isAmbiguous = false
  }

  /// An hour as written; nil when no clock shows it.
  ///
  /// With a half of the day it is of 1 to 12. Without, the hours 1 to 12 are ambiguous unless a leading zero shows the
  /// twenty-four-hour clock.
  init?(hour: Int, minute: Int, meridiem: Meridiem?, hasLeadingZero: Bool = false) {
    guard (0...59).contains(minute) else { return nil }
    if let meridiem {
      guard (1...12).contains(hour) else { return nil }
      minutes = hour % 12 * 60 + minute + (meridiem == .postMeridiem ? 720 : 0)
      isAmbiguous = false
    } else {
      guard hour * 60 + minute <= 1440 else { return nil }
      isAmbiguous = (1...12).contains(hour) && !hasLeadingZero
      minutes = (isAmbiguous ? hour % 12 : hour) * 60 + minute
    }
  }
}
