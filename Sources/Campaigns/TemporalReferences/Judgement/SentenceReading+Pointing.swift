extension SentenceReading {
  /// How many known words may stand between a pronoun and a phrase that says when it is: *it will start on*.
  private static let pronounReach = 3
  /// How many words a sentence may have besides the phrase to be a mere addition to the one before.
  private static let additionWordsMax = 1

  /// Whether the phrase dates an event that was named before: after a pronoun with only known words between, alone in
  /// its sentence, or as the new time of something moved.
  func pointsBack(_ phrase: Range<Int>) -> Bool {
    if map.isDestination(phrase) { return true }
    let otherWords = map.lexemes.count - phrase.count
    if mentions.isEmpty, phrase.lowerBound == 0, otherWords <= Self.additionWordsMax { return true }
    for index in map.lexemes[..<phrase.lowerBound].indices.suffix(Self.pronounReach + 1).reversed() {
      let lexeme = map.lexemes[index]
      if lexeme.means(.pronoun) { return true }
      if lexeme.isUnknown || lexeme.event != nil { return false }
    }
    return false
  }
}
