internal import FoundationEssentials

/// Reads a text's sentences in order, and applies later sentences to the events of earlier ones.
struct ReferenceCollector {
  /// A reference, and the index of its first lexeme in its sentence.
  struct Entry {
    var reference: TemporalReference
    let sentence: Int
    let place: Int
  }

  let resolver: PhraseResolver
  let referencesMax: Int
  /// In order of the text.
  private(set) var entries: [Entry] = []
  /// Events that were called off, denied or moved without a time, in order of the text.
  var calledOff: [String] = []
  /// The number of sentences read.
  private(set) var sentence = 0
  /// The event named last. A pronoun refers to it.
  private var lastEvent: String?
  /// The last day of an event, for a later sentence that gives only its time.
  private var lastDay: (event: String, day: DayExpression)?

  init(resolver: PhraseResolver, referencesMax: Int) {
    self.resolver = resolver
    self.referencesMax = referencesMax
  }

  /// Whether no more references are added; cancellations still count.
  var isFull: Bool { entries.count >= referencesMax }

  /// Adds the references of the next sentence and applies its cancellations.
  mutating func read(_ map: SentenceMap, phrases: [TemporalPhrase]) {
    let reading = SentenceReading(phrases: phrases, in: map)
    for dated in reading.dated where !isFull { append(dated, of: reading) }
    cancelDenied(reading)
    cancelEvents(in: reading)
    lastEvent = reading.mentions.last { !$0.isDenied }?.event ?? lastEvent
    sentence += 1
  }

  private mutating func append(_ dated: DatedPhrase, of reading: SentenceReading) {
    let dated = inheriting(moved(dated, in: reading.map), in: reading)
    guard let reference = reference(dated, in: reading.map) else { return }
    if let event = dated.event, let day = dated.phrase.day { lastDay = (event, day) }
    guard !isKnown(reference) else { return }
    entries.append(Entry(reference: reference, sentence: sentence, place: dated.phrase.lexemes.lowerBound))
  }

  /// Whether an equal reference exists, as in *Friday, the 13th*.
  private func isKnown(_ reference: TemporalReference) -> Bool {
    entries.contains {
      let known = $0.reference
      return known.start == reference.start && known.end == reference.end && known.event == reference.event
        && known.standing == reference.standing
    }
  }

  /// The end of a range such as *moved from Monday to Wednesday*.
  private func moved(_ dated: DatedPhrase, in map: SentenceMap) -> DatedPhrase {
    guard case .range(_, let last) = dated.phrase.day, map.isDestination(dated.phrase.lexemes) else { return dated }
    var dated = dated
    dated.phrase.day = last
    return dated
  }

  /// Adds the event, and for a time the day, that earlier words supply.
  private func inheriting(_ dated: DatedPhrase, in reading: SentenceReading) -> DatedPhrase {
    guard dated.event == nil, reading.pointsBack(dated.phrase.lexemes) else { return dated }
    var dated = dated
    let start = dated.phrase.lexemes.lowerBound
    dated.inheritedEvent = reading.mentions.last { $0.index < start && !$0.isDenied }?.event ?? lastEvent
    if dated.phrase.day == nil, let lastDay, lastDay.event == dated.inheritedEvent { dated.phrase.day = lastDay.day }
    return dated
  }

  /// Marks the matching references as cancelled, except past ones.
  mutating func cancel(where isMeant: (Entry) -> Bool) {
    for index in entries.indices where entries[index].reference.standing != .past && isMeant(entries[index]) {
      entries[index].reference.standing = .cancelled
      entries[index].reference.confidence = ConfidenceScale.gone
    }
  }
}

extension ReferenceCollector {
  /// An event that is denied without a time cancels the earlier one of that name.
  mutating func cancelDenied(_ reading: SentenceReading) {
    let dated = Set(reading.dated.compactMap { $0.mention?.index })
    for mention in reading.mentions where mention.isDenied && !dated.contains(mention.index) {
      let sentence = sentence
      calledOff.append(mention.event)
      cancel { $0.sentence < sentence && $0.reference.event == mention.event }
    }
  }

  /// Applies the sentence's words for calling off and moving.
  mutating func cancelEvents(in reading: SentenceReading) {
    for (index, lexeme) in reading.map.lexemes.enumerated() {
      if lexeme.means(.cancellation) {
        callOff(at: index, in: reading, isMoved: false)
      } else if lexeme.means(.postponement) {
        callOff(at: index, in: reading, isMoved: true)
      }
    }
  }

  /// Cancels the times in the clause of the word at `index`, or else the earlier times of its event.
  ///
  /// A moved event keeps the times after the word, which are the new ones, and loses all earlier ones.
  private mutating func callOff(at index: Int, in reading: SentenceReading, isMoved: Bool) {
    let subject = reading.subject(at: index)
    let sentence = sentence
    let isOwn: (Entry) -> Bool = { entry in
      entry.sentence == sentence && reading.map.areInOneClause(entry.place, index)
        && (subject == nil || entry.reference.event == nil || entry.reference.event == subject)
        && !(isMoved && entry.place > index)
    }
    let hasOwn = entries.contains { isOwn($0) && $0.reference.standing != .past }
    cancel(where: isOwn)
    guard isMoved || !hasOwn else { return }
    let isEarlier: (Entry) -> Bool = { $0.sentence < sentence || $0.place < index }
    guard let event = subject ?? entries.last(where: { isEarlier($0) && $0.reference.event != nil })?.reference.event
    else { return }
    calledOff.append(event)
    cancel { isEarlier($0) && $0.reference.event == event }
  }
}

extension SentenceReading {
  /// The event that a word is about: the nearest before it in its clause, else the first after it.
  fileprivate func subject(at index: Int) -> String? {
    let own = mentions.filter { map.areInOneClause($0.index, index) }
    return (own.last { $0.index < index } ?? own.first)?.event
  }
}
