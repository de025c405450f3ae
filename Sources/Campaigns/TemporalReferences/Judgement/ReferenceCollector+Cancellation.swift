extension ReferenceCollector {
  /// An event that is denied without a time is the earlier one of that name.
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

  /// Cancels what the word at `index` is about: times of its own clause, else the earlier ones of its event.
  ///
  /// What is moved keeps the times after the word, which are the new ones, and loses all earlier ones.
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
  /// The event that a word about events is said of: the nearest before it in its clause, else the first after it.
  fileprivate func subject(at index: Int) -> String? {
    let own = mentions.filter { map.areInOneClause($0.index, index) }
    return (own.last { $0.index < index } ?? own.first)?.event
  }
}
