/// All that one place of a text says about when.
struct TemporalPhrase: Equatable {
  var day: DayExpression?
  var clock: ClockExpression?
  var part: DayPart?
  /// Which lexemes of the sentence say it.
  var lexemes: Range<Int>

  /// Whether it has a time and needs a day from elsewhere.
  var lacksDay: Bool { day == nil }
  /// Whether it says anything.
  var isEmpty: Bool { day == nil && clock == nil && part == nil }
}
