/// The daylight saving time of a rule: its offset and its part of every year.
///
/// Moments are Unix time in `Int`, from 1970 on.
struct DaylightTime: Equatable, Sendable {
  /// Seconds east of UTC.
  var offset: Int

  var start: YearMoment

  /// When it ends. Before the start of the same year in the southern hemisphere.
  var end: YearMoment

  /// The length of the Gregorian calendar's cycle. What does not happen in 400 years never does.
  private static let cycleYears = 400

  /// Whether it is in force. It is not when it ends at the moment it begins.
  func covers(_ moment: Int) -> Bool {
    // A period begins at most nine days before its year, and ends at most nine days after the next one.
    let year = Self.year(around: moment)
    return (year - 2...year + 1).contains { first in
      let (start, end) = edges(of: first)
      return start <= moment && moment < (start <= end ? end : edges(of: first + 1).end)
    }
  }

  /// The next moment after another one at which it begins or ends; nil if there is none, as when it goes on all year.
  func edge(after moment: Int) -> Int? {
    let isInForce = covers(moment)
    let first = Self.year(around: moment) - 1
    for year in first...first + Self.cycleYears + 2 {
      // Edges of two years are out of order only where a period is empty or meets the next one, so none of them counts.
      if let edge = edge(of: year, after: moment, ending: isInForce) { return edge }
    }
    return nil
  }

  /// The first edge of a year that comes after a moment and changes what is in force.
  private func edge(of year: Int, after moment: Int, ending isInForce: Bool) -> Int? {
    let (start, end) = edges(of: year)
    func isChange(_ edge: Int) -> Bool { edge > moment && covers(edge) != isInForce }
    if isChange(min(start, end)) { return min(start, end) }
    return isChange(max(start, end)) ? max(start, end) : nil
  }

  private func edges(of year: Int) -> (start: Int, end: Int) {
    let year = CalendarYear(year)
    return (start.seconds(in: year), end.seconds(in: year))
  }

  /// The year of a moment, or within two days of New Year one beside it, by the mean length of a year. It is exact
  /// enough where years around it are looked at.
  private static func year(around moment: Int) -> Int { 1970 + moment / 86_400 * cycleYears / 146_097 }
}
