extension PhraseResolver {
  /// The earliest hour that is of the morning when only a number is said: few appointments are before seven, so 1 to 6
  /// are of the afternoon.
  private static let morningBegins = 7 * 60
  /// Until which hour of the evening a number may be meant that would also be of the morning. Nine in the evening is
  /// common, ten and eleven are not.
  private static let eveningEnds = 22 * 60

  /// A time without a day: the next such time, or the latest if it is told as past.
  func timeWithoutDay(_ phrase: TemporalPhrase, isPast: Bool) -> ResolvedTime? {
    let minutes: Int
    if let clock = phrase.clock {
      minutes = self.minutes(of: clock, in: phrase.part, after: isPast ? nil : now).start
    } else if let part = phrase.part {
      // A part that is half over is seldom spoken of as coming.
      minutes = (part.minutes.lowerBound + part.minutes.upperBound) / 2
    } else {
      return nil
    }
    let day = isPast ? today + (minutes > now ? -1 : 0) : today + (minutes <= now ? 1 : 0)
    return timeOfDay(phrase, on: day, isPast: isPast)
  }

  /// The ends of a clock expression, in minutes from the day's midnight, which may be of the next day.
  /// - Parameter floor: the time after which an ambiguous hour is looked for first; nil when any will do.
  func minutes(
    of expression: ClockExpression, in part: DayPart?, after floor: Int?
  ) -> (start: Int, end: Int?) {
    guard let end = expression.end else { return (minutes(of: expression.start, in: part, after: floor), nil) }
    if expression.start.isAmbiguous, !end.isAmbiguous {
      let (early, late) = (expression.start.minutes, expression.start.minutes + 720)
      if late < end.minutes { return (late, end.minutes) }
      // Neither half of the day begins before it: "10-2am" is a night's.
      return early < end.minutes ? (early, end.minutes) : (late, end.minutes + 1440)
    }
    let start = minutes(of: expression.start, in: part, after: floor)
    return (start, firstReading(of: end, after: start))
  }

  private func minutes(of reading: ClockReading, in part: DayPart?, after floor: Int?) -> Int {
    guard reading.isAmbiguous else { return reading.minutes }
    if let part { return part.reading(of: reading.minutes) }
    let early = reading.minutes
    let late = early + 720
    guard early >= Self.morningBegins else { return late }
    if let floor, early <= floor, floor < late, late < Self.eveningEnds { return late }
    return early
  }

  private func firstReading(of reading: ClockReading, after start: Int) -> Int {
    let step = reading.isAmbiguous ? 720 : 1440
    var minutes = reading.minutes
    while minutes <= start { minutes += step }
    return minutes
  }
}
