/// A part of a civil day.
public struct DayPart: Hashable, Sendable {
  /// Its minutes from the day's midnight, within `0 ..< 1,440`; the end is exclusive.
  public let minutes: Range<Int>

  /// A part between two full hours of a day; 24 is its end.
  public init(hours: Range<Int>) {
    precondition(!hours.isEmpty && hours.lowerBound >= 0 && hours.upperBound <= 24, "not hours of one day")
    minutes = hours.lowerBound * 60..<hours.upperBound * 60
  }
}

extension DayPart {
  /// The reading of a time on the twelve-hour clock that lies in this part or least far from it, in minutes from
  /// midnight; it may be of the night that follows.
  func reading(of twelveHour: Int) -> Int {
    [twelveHour, twelveHour + 720, twelveHour + 1440].min { distance(to: $0) < distance(to: $1) } ?? twelveHour
  }

  /// How far a time is from this part; its end counts as inside, so that twelve at night is midnight and not noon.
  private func distance(to time: Int) -> Int {
    max(0, minutes.lowerBound - time, time - minutes.upperBound)
  }
}
