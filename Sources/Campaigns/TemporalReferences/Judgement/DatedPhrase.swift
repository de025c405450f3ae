/// A phrase of a sentence with its day, wherever that is said, and the event it dates.
struct DatedPhrase {
  /// Complete: a time without a day of its own has that of another phrase.
  var phrase: TemporalPhrase
  var mention: EventMention?
  /// The event of an earlier sentence, when this one only points to it.
  var inheritedEvent: String?
  /// Whether the day is another phrase's.
  var borrowsDay = false

  /// The event's description.
  var event: String? { mention?.event ?? inheritedEvent }
}
