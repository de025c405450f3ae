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
