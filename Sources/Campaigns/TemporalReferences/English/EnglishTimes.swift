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
