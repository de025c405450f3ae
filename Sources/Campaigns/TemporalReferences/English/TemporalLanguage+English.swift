extension TemporalLanguage {
  /// English as it is written in chats, on both sides of the Atlantic.
  public static let english = TemporalLanguage(
    vocabulary: [
      EnglishCalendar.vocabulary, EnglishTimes.vocabulary, EnglishEvents.vocabulary, EnglishSenses.vocabulary,
      EnglishDenials.vocabulary, EnglishIdioms.vocabulary,
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
  static let vocabulary: [(meaning: WordMeaning, phrases: [String])] =
    days + weekdays + months + units + ordinals

  private static let days: [(meaning: WordMeaning, phrases: [String])] = [
    (.day(offset: 0), ["today", "later today"]),
    (.day(offset: 1), ["tomorrow", "tmrw", "tmr", "tomorow", "tommorow", "tommorrow", "2morrow"]),
    (.day(offset: 2), ["the day after tomorrow", "day after tomorrow", "overmorrow"]),
    (.day(offset: -1), ["yesterday", "the other day"]),
    (.day(offset: -2), ["the day before yesterday", "day before yesterday"]),
  ]

  private static let weekdays: [(meaning: WordMeaning, phrases: [String])] = [
    (.weekday(1), ["monday", "mon"]),
    (.weekday(2), ["tuesday", "tue", "tues"]),
    (.weekday(3), ["wednesday", "wed", "weds"]),
    (.weekday(4), ["thursday", "thu", "thur", "thurs"]),
    (.weekday(5), ["friday", "fri"]),
    (.weekday(6), ["saturday", "sat"]),
    (.weekday(7), ["sunday", "sun"]),
    (.ordinaryWord, ["mon", "wed", "sat", "sun"]),
  ]

  private static let months: [(meaning: WordMeaning, phrases: [String])] = [
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

  private static let units: [(meaning: WordMeaning, phrases: [String])] = [
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

  private static let ordinals: [(meaning: WordMeaning, phrases: [String])] = [
    (.ordinal(1), ["first"]), (.ordinal(2), ["second"]), (.ordinal(3), ["third"]), (.ordinal(4), ["fourth"]),
    (.ordinal(5), ["fifth"]), (.ordinal(6), ["sixth"]), (.ordinal(7), ["seventh"]), (.ordinal(8), ["eighth"]),
    (.ordinal(9), ["ninth"]), (.ordinal(10), ["tenth"]), (.ordinal(11), ["eleventh"]), (.ordinal(12), ["twelfth"]),
    (.ordinal(13), ["thirteenth"]), (.ordinal(14), ["fourteenth"]), (.ordinal(15), ["fifteenth"]),
    (.ordinal(16), ["sixteenth"]), (.ordinal(17), ["seventeenth"]), (.ordinal(18), ["eighteenth"]),
    (.ordinal(19), ["nineteenth"]), (.ordinal(20), ["twentieth"]), (.ordinal(21), ["twenty-first", "twenty first"]),
    (.ordinal(22), ["twenty-second", "twenty second"]), (.ordinal(23), ["twenty-third", "twenty third"]),
    (.ordinal(24), ["twenty-fourth", "twenty fourth"]), (.ordinal(25), ["twenty-fifth", "twenty fifth"]),
    (.ordinal(26), ["twenty-sixth", "twenty sixth"]), (.ordinal(27), ["twenty-seventh", "twenty seventh"]),
    (.ordinal(28), ["twenty-eighth", "twenty eighth"]), (.ordinal(29), ["twenty-ninth", "twenty ninth"]),
    (.ordinal(30), ["thirtieth"]), (.ordinal(31), ["thirty-first", "thirty first"]),
    // More often ranks and fractions than days.
    (.ordinaryWord, ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]),
  ]
}

/// English words for times of the day, counts and relations between times.
enum EnglishTimes {
  static let vocabulary: [(meaning: WordMeaning, phrases: [String])] =
    parts + clocks + numbers + relations

  private static let morning = DayPart(hours: 6..<12)
  private static let afternoon = DayPart(hours: 12..<18)
  private static let evening = DayPart(hours: 18..<22)
  private static let night = DayPart(hours: 18..<24)
  /// Offices close at five; what is due at the end of a day may still come until midnight.
  private static let endOfDay = DayPart(hours: 17..<24)
  private static let lunch = DayPart(hours: 12..<14)

  private static let parts: [(meaning: WordMeaning, phrases: [String])] = [
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

  private static let clocks: [(meaning: WordMeaning, phrases: [String])] = [
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

  private static let numbers: [(meaning: WordMeaning, phrases: [String])] = [
    (.number(1), ["one", "a", "an"]), (.number(2), ["two", "a couple of", "a couple", "couple of"]),
    (.number(3), ["three"]), (.number(4), ["four"]), (.number(5), ["five"]), (.number(6), ["six"]),
    (.number(7), ["seven"]), (.number(8), ["eight"]), (.number(9), ["nine"]), (.number(10), ["ten"]),
    (.number(11), ["eleven"]), (.number(12), ["twelve"]), (.number(13), ["thirteen"]), (.number(14), ["fourteen"]),
    (.number(15), ["fifteen"]), (.number(20), ["twenty"]), (.number(21), ["twenty-one", "twenty one"]),
    (.number(24), ["twenty-four", "twenty four"]), (.number(30), ["thirty"]), (.number(40), ["forty"]),
    (.number(45), ["forty-five", "forty five"]), (.number(48), ["forty-eight", "forty eight"]),
    (.article, ["the", "a", "an"]),
  ]

  private static let relations: [(meaning: WordMeaning, phrases: [String])] = [
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
