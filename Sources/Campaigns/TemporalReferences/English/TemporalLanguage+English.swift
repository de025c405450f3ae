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
