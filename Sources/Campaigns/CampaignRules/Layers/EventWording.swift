import FoundationEssentials

/// When an event is, in words relative to the user's own day.
///
/// Days and their parts are named, never hours: a push is read some time after it was written, and "in two hours" is wrong
/// by then while "this afternoon" still holds.
struct EventWording {
  /// One of the words that the push may use, such as `tomorrow morning`.
  let words: String

  /// - Parameter span: not over at the moment, and begun within a day of it.
  init(of span: EventSpan, at moment: Date, in localTime: LocalTime) {
    let start = max(span.start, moment)
    switch span.grain {
    case .period: words = span.start <= moment ? "these days" : "in the coming days"
    case .day: words = localTime.day(of: start) <= localTime.day(of: moment) ? "today" : "tomorrow"
    case .instant, .partOfDay: words = Self.partOfDay(of: start, at: moment, in: localTime)
    }
  }

  /// The hours before five belong to the night that began the day before: at noon, one o'clock at night is "tonight".
  private static func partOfDay(of start: Date, at moment: Date, in localTime: LocalTime) -> String {
    let hour = localTime.hour(of: start)
    let daysAhead = localTime.day(of: start) - (hour < 5 ? 1 : 0) - localTime.day(of: moment)
    let isToday = daysAhead <= 0
    switch hour {
    case 5..<12: return isToday ? "this morning" : "tomorrow morning"
    case 12..<18: return isToday ? "this afternoon" : "tomorrow afternoon"
    default: return isToday ? "tonight" : "tomorrow evening"
    }
  }
}
