/// What a word or fixed phrase of a language can mean to the reader of temporal references.
///
/// A word may have several meanings; its context decides. This type is the whole interface between a language's table
/// and the grammar, which knows no word of any language.
public enum WordMeaning: Hashable, Sendable {
  // MARK: Days

  /// A month of the Gregorian calendar, 1 to 12.
  case month(Int)
  /// A day of the week, 1 for Monday to 7 for Sunday.
  case weekday(Int)
  /// The word also has an unrelated meaning. It counts as a month, weekday or ordinal only if its neighbours support
  /// that.
  case ordinaryWord
  /// A day counted from the message's own: 0 is the same, 1 the next, -1 the one before.
  case day(offset: Int)
  /// A position in a month, from 1.
  case ordinal(Int)
  /// A stretch of the calendar.
  case unit(CalendarUnit)
  /// Which of several units or weekdays.
  case selector(PeriodSelector)
  /// The end of the unit or month that follows.
  case endOf

  // MARK: Times

  /// A part of some day.
  case dayPart(DayPart)
  /// A part of a certain day, counted like ``day(offset:)``.
  case partOfDay(DayPart, offset: Int)
  /// A clock time, in minutes from midnight: 720 is noon, 1,440 the midnight that ends the day.
  case clock(minutes: Int)
  /// The half of the day that a preceding hour belongs to.
  case meridiem(Meridiem)
  /// Follows an hour and marks it as a time.
  case hourMark
  /// Minutes after, or if negative before, the hour that follows.
  case minutesPast(Int)
  /// A length of time in one phrase, in minutes.
  case duration(minutes: Int)
  /// A count.
  case number(Int)

  // MARK: Relations

  /// Before a count: that much later.
  case ahead
  /// Before or after a count: that much earlier.
  case ago
  /// After a count: that much later.
  case fromNow
  /// Between a count and a day: that much later than the day. Also the beginning of a range.
  case from
  /// Between the two ends of a range.
  case until
  /// Before two ends that a conjunction joins.
  case between
  /// Before a day.
  case on
  /// Before a clock time.
  case at
  /// Between a day and its month.
  case of
  /// The definite article.
  case article
  /// May come between a denial and the event it denies.
  case determiner
  /// Before a day that is a bound and not the day itself.
  case bound

  // MARK: Sentences

  /// An event, by its description; two words with one description are the same event.
  case event(String)
  /// The event will not take place.
  case cancellation
  /// The event will not take place when it was planned; a time after this word is the new one.
  case postponement
  /// Denies the event or time directly after it.
  case negation
  /// Makes its clause a wish or a mere possibility.
  case hedge
  /// Makes the rest of its statement conditional.
  case condition
  /// Speaks of the past.
  case pastSense
  /// Speaks of the present or the future.
  case futureSense
  /// The event or subject that follows belongs to another person.
  case anothers
  /// The event or subject that follows belongs to the writer.
  case writers
  /// Opens a question about whether something is the case.
  case asking
  /// Refers to the event mentioned last.
  case pronoun
  /// Joins two things of the same kind.
  case and
  /// Joins alternatives.
  case or
  /// Separates two independent statements.
  case contrast
  /// Has no meaning here. It is listed so that its words are not read one by one, or because it is not a noun.
  case idiom
}

/// A stretch of the clock or the calendar.
public enum CalendarUnit: Hashable, Sendable {
  /// 60 seconds that pass.
  case minute
  /// 60 minutes that pass.
  case hour
  /// A civil day.
  case day
  /// A civil week, from Monday to Sunday (ISO 8601).
  case week
  /// The Saturday and Sunday that end a civil week.
  case weekend
  /// A month of the calendar.
  case month
  /// A year of the calendar.
  case year
}

/// Which of several weeks, months or weekdays is meant.
public enum PeriodSelector: Hashable, Sendable {
  /// The nearest that is not over.
  case this
  /// The first that begins after today.
  case coming
  /// In the following week, month or year.
  case next
  /// In the one after the following.
  case afterNext
  /// The previous one.
  case last
  /// All of them, which gives no date.
  case every
}

extension PeriodSelector {
  /// Units after the message's own; nil for ``every``.
  var offset: Int? {
    switch self {
    case .this: 0
    case .coming, .next: 1
    case .afterNext: 2
    case .last: -1
    case .every: nil
    }
  }
}

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
  /// The reading of a twelve-hour time that is in this part or closest to it, in minutes from midnight. It may be in
  /// the night that follows.
  func reading(of twelveHour: Int) -> Int {
    [twelveHour, twelveHour + 720, twelveHour + 1440].min { distance(to: $0) < distance(to: $1) } ?? twelveHour
  }

  /// The distance of a time from this part. The end counts as inside, so that twelve at night is midnight and not noon.
  private func distance(to time: Int) -> Int {
    max(0, minutes.lowerBound - time, time - minutes.upperBound)
  }
}

/// A half of the day on the twelve-hour clock.
public enum Meridiem: Hashable, Sendable {
  /// From midnight to noon.
  case anteMeridiem
  /// From noon to midnight.
  case postMeridiem
}
