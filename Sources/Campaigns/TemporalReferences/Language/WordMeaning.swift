/// What a word or fixed phrase of a language can mean to the reader of temporal references.
///
/// A word may have several meanings; its context decides. This type is the whole interface between a language's table
/// and the grammar, which knows no word of any language.
enum WordMeaning: Hashable {
  /// A month of the Gregorian calendar, 1 to 12.
  case month(Int)
  /// A day of the week, 1 for Monday to 7 for Sunday.
  case weekday(Int)
  /// A day counted from the message's own: 0 is the same, 1 the next, -1 the one before.
  case day(offset: Int)
  /// A position in a month, from 1.
  case ordinal(Int)
  case unit(CalendarUnit)
  case selector(PeriodSelector)
  case holiday(Holiday)
  case dayPart(DayPart)
  /// A part of a certain day, counted like ``day(offset:)``.
  case partOfDay(DayPart, offset: Int)
  /// A clock time, in minutes from midnight: 720 is noon, 1,440 the midnight that ends the day.
  case clock(minutes: Int)
  /// The half of the day that a preceding hour belongs to.
  case meridiem(Meridiem)
  /// Minutes after, or if negative before, the hour that follows.
  case minutesPast(Int)
  /// A length of time in one phrase, in minutes.
  case duration(minutes: Int)
  case number(Int)
  /// An event, by its description; two words with one description are the same event.
  case event(String)
  case sense(WordSense)
}

/// What a word tells about its neighbours, by its name in a language's table.
enum WordSense: String, Hashable {
  /// The word also has an unrelated meaning. It counts as a month, weekday or ordinal only if its neighbours support
  /// that.
  case ordinaryWord
  /// The end of the unit or month that follows.
  case endOf
  /// Follows an hour and marks it as a time.
  case hourMark
  /// Before a count or a time: it is not exact.
  case approximately
  /// The number that follows is a name, as of a room, and no time.
  case label
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
  /// The event is in the evening when its hour leaves that open.
  case evening
  /// The event is the writer's too when it is named after another person: *Nina's wedding*.
  case shared
  case cancellation
  /// The event will not take place when it was planned; a time after this word is the new one.
  case postponement
  /// What follows is over, and told of.
  case aftermath
  /// A time after it replaces the one before it.
  case correction
  /// What is done before it serves the event after it, and may be on another day.
  case purpose
  /// At the latest then.
  case by
  /// An event that is on the day by which it must be done.
  case dueBy
  /// Denies the event or time directly after it.
  case negation
  /// The writer does not take part in the event that follows.
  case refusal
  /// Makes its clause a wish or a mere possibility.
  case hedge
  /// Makes the rest of its statement conditional.
  case condition
  /// Says that what stands near it happens again and again: *usually*.
  case habit
  /// Says when what the statement speaks of happens again and again: *on Mondays*.
  case recurrence
  case pastSense
  /// Speaks of the past where a verb may stand: at the beginning of a clause, or after who did it.
  case pastForm
  /// Speaks of the present or the future.
  case futureSense
  /// The event or subject that follows belongs to another person.
  case anothers
  /// The event or subject that follows belongs to the writer.
  case writers
  /// A verb in the third person, so that what follows belongs to its subject.
  case othersVerb
  /// The writer as the object of what goes before: *with me*.
  case includesWriter
  /// Opens a question about whether something is the case.
  case asking
  /// Refers to another event of the kind mentioned last.
  case another
  /// Refers to the event mentioned last.
  case pronoun
  case and
  case or
  /// Separates two independent statements.
  case contrast
  /// Has no meaning here. It is listed so that its words are not read one by one, or because it is not a noun.
  case idiom
}

enum CalendarUnit: String, Hashable {
  /// 60 seconds that pass.
  case minute
  /// 60 minutes that pass.
  case hour
  /// A civil day.
  case day
  /// A civil week, from Monday to Sunday (ISO 8601).
  case week
  case fortnight
  /// The Saturday and Sunday that end a civil week.
  case weekend
  case month
  case year
}

/// The rule of a day that the calendar names.
enum Holiday: Hashable {
  case date(month: Int, day: Int)
  /// Days after the Easter Sunday of the Gregorian calendar, or before it if negative.
  case easter(days: Int)
  /// A weekday of a month by its number, 1 for Monday; -1 is the last. Days are counted on from there.
  case nth(Int, weekday: Int, month: Int, later: Int = 0)
}

/// Which of several weeks, months or weekdays is meant.
enum PeriodSelector: String, Hashable {
  /// The nearest that is not over.
  case this
  /// The first that begins after today.
  case coming
  /// In the following week, month or year.
  case next
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

struct DayPart: Hashable {
  /// Its minutes from the day's midnight, within `0 ..< 1,440`; the end is exclusive.
  let minutes: Range<Int>

  /// A part between two full hours of a day; 24 is its end.
  init(hours: Range<Int>) {
    precondition(!hours.isEmpty && hours.lowerBound >= 0 && hours.upperBound <= 24, "not hours of one day")
    minutes = hours.lowerBound * 60..<hours.upperBound * 60
  }
}

extension DayPart {
  /// When people dine and go out.
  static let evening = DayPart(hours: 18..<22)

  /// The reading of a twelve-hour time that is in this part or closest to it, in minutes from midnight. It may be in
  /// the night that follows.
  func reading(of twelveHour: Int) -> Int {
    // One in the morning is before six, and not in the afternoon.
    if minutes.upperBound <= 720 { return twelveHour }
    return [twelveHour, twelveHour + 720, twelveHour + 1440].min { distance(to: $0) < distance(to: $1) } ?? twelveHour
  }

  /// The distance of a time from this part. The end counts as inside, so that twelve at night is midnight and not noon.
  private func distance(to time: Int) -> Int {
    max(0, minutes.lowerBound - time, time - minutes.upperBound)
  }
}

enum Meridiem: String, Hashable {
  case anteMeridiem = "am"
  case postMeridiem = "pm"
}
