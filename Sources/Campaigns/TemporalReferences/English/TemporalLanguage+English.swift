extension TemporalLanguage {
  /// British and American English as people write it in chats.
  public static let english = TemporalLanguage(
    vocabulary: [
      EnglishCalendar.vocabulary, EnglishTimes.vocabulary, EnglishEvents.vocabulary, EnglishSenses.vocabulary,
    ].flatMap { $0 },
    ordinalSuffixes: ["st", "nd", "rd", "th"],
    clitics: ["'s", "s'"],
    abbreviations: [
      "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "mon", "tue", "tues",
      "wed", "thu", "thur", "thurs", "fri", "sat", "sun", "dr", "mr", "mrs", "ms", "prof", "st", "approx", "appt",
      "vs",
    ])
}

/// English words for days, weeks and months.
enum EnglishCalendar {
  static let vocabulary: TemporalLanguage.Vocabulary =
    days + weekdays + months + units + ordinals

  private static let days: TemporalLanguage.Vocabulary = [
    (.day(offset: 0), ["today", "later today"]),
    (.day(offset: 1), ["tomorrow", "tmrw", "tmr", "tomorow", "tommorow", "tommorrow", "2morrow"]),
    (.day(offset: 2), ["the day after tomorrow", "day after tomorrow", "overmorrow"]),
    (.day(offset: -1), ["yesterday", "the other day"]),
    (.day(offset: -2), ["the day before yesterday", "day before yesterday"]),
  ]

  private static let weekdays: TemporalLanguage.Vocabulary = [
    (.weekday(1), ["monday", "mon"]),
    (.weekday(2), ["tuesday", "tue", "tues"]),
    (.weekday(3), ["wednesday", "wed", "weds"]),
    (.weekday(4), ["thursday", "thu", "thur", "thurs"]),
    (.weekday(5), ["friday", "fri"]),
    (.weekday(6), ["saturday", "sat"]),
    (.weekday(7), ["sunday", "sun"]),
    (.ordinaryWord, ["mon", "wed", "sat", "sun"]),
  ]

  private static let months: TemporalLanguage.Vocabulary = [
    (.month(1), ["january", "jan"]),
    (.month(2), ["february", "feb"]),
    (.month(3), ["march", "mar"]),
    (.month(4), ["april", "apr"]),
    (.month(5), ["may"]),
    (.month(6), ["june", "jun"]),
    (.month(7), ["july", "jul"]),
    (.month(8), ["august", "aug"]),
    (.month(9), ["september", "sept", "sep"]),
    (.month(10), ["october", "oct"]),
    (.month(11), ["november", "nov"]),
    (.month(12), ["december", "dec"]),
    // Verbs, names and an adjective.
    (.ordinaryWord, ["march", "mar", "may", "april", "june", "jan", "august", "jun"]),
  ]

  private static let units: TemporalLanguage.Vocabulary = [
    (.unit(.minute), ["minute", "minutes", "min", "mins"]),
    (.unit(.hour), ["hour", "hours", "hr", "hrs"]),
    (.unit(.day), ["day", "days"]),
    (.unit(.week), ["week", "weeks"]),
    (.unit(.weekend), ["weekend"]),
    (.unit(.month), ["month", "months"]),
    (.unit(.year), ["year", "years"]),
    (.selector(.this), ["this"]),
    (.selector(.coming), ["coming", "upcoming", "the coming", "the upcoming"]),
    (.selector(.next), ["next"]),
    (.selector(.afterNext), ["after next"]),
    (.selector(.last), ["last", "past", "previous"]),
    (.selector(.every), ["every", "each", "every other"]),
    (.endOf, ["end of", "the end of"]),
  ]

  private static let ordinals: TemporalLanguage.Vocabulary =
    ordinalWords.enumerated().map { (.ordinal($0 + 1), [$1, $1.replacing("-", with: " ")]) }
    // These mean ranks and fractions more often than days.
    + [(.ordinaryWord, Array(ordinalWords.prefix(10)))]

  private static let ordinalWords = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth",
    "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
  ]
}

/// English words for times of the day, counts and relations between times.
enum EnglishTimes {
  static let vocabulary: TemporalLanguage.Vocabulary =
    parts + clocks + numbers + relations

  private static let morning = DayPart(hours: 6..<12)
  private static let afternoon = DayPart(hours: 12..<18)
  private static let evening = DayPart(hours: 18..<22)
  private static let night = DayPart(hours: 18..<24)
  /// Offices close at five, but work due at the end of a day may still arrive until midnight.
  private static let endOfDay = DayPart(hours: 17..<24)
  private static let lunch = DayPart(hours: 12..<14)

  private static let parts: TemporalLanguage.Vocabulary = [
    (.dayPart(morning), ["morning", "early morning"]),
    (.dayPart(afternoon), ["afternoon", "early afternoon", "late afternoon"]),
    (.dayPart(evening), ["evening"]),
    (.dayPart(night), ["night"]),
    (.dayPart(lunch), ["lunchtime", "lunch time"]),
    (.partOfDay(morning, offset: 0), ["this morning", "this morning's"]),
    (.partOfDay(afternoon, offset: 0), ["this afternoon", "this afternoon's"]),
    (.partOfDay(evening, offset: 0), ["this evening", "this evening's"]),
    (.partOfDay(night, offset: 0), ["tonight", "tonite", "later tonight"]),
    (.partOfDay(night, offset: -1), ["last night", "last night's"]),
    (
      .partOfDay(endOfDay, offset: 0),
      ["end of day", "end of the day", "the end of the day", "eod", "close of business"]
    ),
    (.partOfDay(morning, offset: 1), ["first thing tomorrow", "tomorrow first thing"]),
  ]

  private static let clocks: TemporalLanguage.Vocabulary = [
    (.clock(minutes: 720), ["noon", "midday", "12 noon", "12noon"]),
    (.clock(minutes: 1440), ["midnight", "12 midnight"]),
    (.meridiem(.anteMeridiem), ["am"]),
    (.meridiem(.postMeridiem), ["pm"]),
    (.hourMark, ["o'clock", "oclock", "o clock", "sharp"]),
    (.minutesPast(5), ["five past", "5 past"]), (.minutesPast(10), ["ten past", "10 past"]),
    (.minutesPast(15), ["quarter past", "a quarter past"]), (.minutesPast(20), ["twenty past", "20 past"]),
    (.minutesPast(30), ["half past"]),
    // Not "ten to", which also begins a range of hours.
    (.minutesPast(-15), ["quarter to", "a quarter to"]),
    (.duration(minutes: 30), ["half an hour", "half hour", "a half hour"]),
    (.duration(minutes: 90), ["an hour and a half", "one and a half hours"]),
  ]

  private static let numbers: TemporalLanguage.Vocabulary = [
    (.number(1), ["one", "a", "an"]), (.number(2), ["two", "a couple of", "a couple", "couple of"]),
    (.number(3), ["three"]), (.number(4), ["four"]), (.number(5), ["five"]), (.number(6), ["six"]),
    (.number(7), ["seven"]), (.number(8), ["eight"]), (.number(9), ["nine"]), (.number(10), ["ten"]),
    (.number(11), ["eleven"]), (.number(12), ["twelve"]), (.number(13), ["thirteen"]), (.number(14), ["fourteen"]),
    (.number(15), ["fifteen"]), (.number(20), ["twenty"]), (.number(21), ["twenty-one", "twenty one"]),
    (.number(24), ["twenty-four", "twenty four"]), (.number(30), ["thirty"]), (.number(40), ["forty"]),
    (.number(45), ["forty-five", "forty five"]), (.number(48), ["forty-eight", "forty eight"]),
    (.article, ["the", "a", "an"]),
  ]

  private static let relations: TemporalLanguage.Vocabulary = [
    (.ahead, ["in", "within"]),
    (.ago, ["ago", "back"]),
    (.fromNow, ["from now", "from today"]),
    (.from, ["from", "after"]),
    (.until, ["to", "until", "till", "til", "through", "thru"]),
    (.between, ["between"]),
    (.on, ["on", "by", "for", "around", "scheduled for", "set for", "booked for"]),
    (.at, ["at", "by", "around", "about", "scheduled for", "set for", "booked for"]),
    (.of, ["of"]),
    (.bound, ["before", "since", "after", "until", "till", "til"]),
    (.and, ["and"]),
    (.or, ["or"]),
  ]
}
