extension SentenceMap {
  /// How many words may stand between a denial and its event: *no more important meetings*.
  private static let determinersMax = 3

  /// The events that the sentence names, outside of its temporal phrases.
  func mentions(outside phrases: [TemporalPhrase]) -> [EventMention] {
    var mentions: [EventMention] = []
    var next = phrases[...]
    for (index, lexeme) in lexemes.enumerated() {
      while let phrase = next.first, phrase.lexemes.upperBound <= index { next.removeFirst() }
      guard let event = lexeme.event, next.first?.lexemes.contains(index) != true else { continue }
      mentions.append(
        EventMention(event: event, index: index, isDenied: isDenied(index), isAnothers: isAnothers(index)))
    }
    return mentions
  }

  /// Whether a denial stands before the event with nothing but determiners between.
  private func isDenied(_ index: Int) -> Bool {
    for before in lexemes[..<index].indices.suffix(Self.determinersMax + 1).reversed() {
      if lexemes[before].means(.negation) { return true }
      guard lexemes[before].means(.determiner) || lexemes[before].means(.article) else { return false }
    }
    return false
  }

  /// Whether the nearest word before the event in its clause that says whose it is names somebody else.
  ///
  /// A possessive that the language does not know, directly before the event, is somebody's name.
  private func isAnothers(_ index: Int) -> Bool {
    if index > 0, lexemes[index - 1].hasClitic, lexemes[index - 1].isUnknown { return true }
    for before in lexemes[..<index].indices.reversed() where areInOneClause(before, index) {
      if lexemes[before].means(.writers) { return false }
      if lexemes[before].means(.anothers) { return true }
    }
    return false
  }
}
