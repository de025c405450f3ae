// Whether a time is certain.
extension SentenceMap {
  /// Why the time of a phrase, or its event, is only possible.
  func uncertainties(of phrase: Range<Int>, about mention: EventMention?) -> Set<ReadingDoubt> {
    var doubts: Set<ReadingDoubt> = []
    let last = max(phrase.lowerBound, mention?.index ?? 0)
    if isQuestion, lexemes.first?.means(.asking) == true { doubts.insert(.question) }
    let isDue = mention.map { lexemes[$0.index].means(.dueBy) } ?? false
    if isBound(phrase) || lexemes[phrase.lowerBound].means(.by) && !isDue { doubts.insert(.bound) }
    if let mention, isOfAnother(phrase, than: mention) { doubts.insert(.purpose) }
    if places(of: .aftermath).contains(where: { $0 < last && areInOneClause($0, last) }) { doubts.insert(.past) }
    if isAlternative(phrase) { doubts.insert(.alternative) }
    if hasCondition(before: last) { doubts.insert(.condition) }
    if hasHedge(before: last, outside: phrase) || isHedged(after: phrase) { doubts.insert(.possibility) }
    return doubts
  }

  /// Whether the phrase is the new time of a moved event.
  func isDestination(_ phrase: Range<Int>) -> Bool {
    places(of: .postponement).contains { $0 < phrase.lowerBound && areInOneClause($0, phrase.lowerBound) }
  }

  func isDenied(_ phrase: Range<Int>) -> Bool { lexeme(before: phrase)?.means(.negation) == true }

  /// Whether it happens again and again: the statement says when, or words say so that nothing separates from the phrase.
  func isHabit(_ phrase: Range<Int>, isAhead: Bool) -> Bool {
    if isAnyDay(phrase) { return true }
    let recurs = places(of: .recurrence).contains { areInOneStatement($0, phrase.lowerBound) }
    return recurs && !isAhead
      || places(of: .habit).contains {
        areInOneStatement($0, phrase.lowerBound)
          && !hasJoint(in: min($0, phrase.upperBound)..<max($0, phrase.lowerBound))
      }
  }

  /// Whether it is any such weekday: *on a Thursday*.
  private func isAnyDay(_ phrase: Range<Int>) -> Bool {
    phrase.dropLast().contains {
      lexemes[$0].means(.article) && lexemes[$0].count == 1 && lexemes[$0 + 1].weekday != nil
    }
  }

  func lexeme(before phrase: Range<Int>) -> Lexeme? {
    phrase.lowerBound > 0 ? lexemes[phrase.lowerBound - 1] : nil
  }

  /// Whether the text means the time before, after or up to the phrase.
  private func isBound(_ phrase: Range<Int>) -> Bool {
    if lexemes[phrase.lowerBound].means(.bound) { return true }
    let first = phrase.lowerBound - 1
    guard let before = first > 0 && lexemes[first].means(.article) ? lexemes[first - 1] : lexeme(before: phrase) else {
      return false
    }
    return before.means(.bound) || before.means(.until) && !isDestination(phrase)
  }

  /// Whether the day is that of something for the event: *buying shoes tomorrow for the wedding*, *my suit for the wedding
  /// arrives Friday*.
  private func isOfAnother(_ phrase: Range<Int>, than mention: EventMention) -> Bool {
    let next = mention.index + 1
    let hasVerb = next < phrase.lowerBound && (lexemes[next].isUnknown || lexemes[next].means(.othersVerb))
    return places(of: .purpose).contains { place in
      (phrase.upperBound <= place || hasVerb) && place < mention.index && areInOneClause(place, phrase.lowerBound)
        && lexemes[place + 1..<mention.index].allSatisfy { $0.means(.determiner) || $0.means(.article) || $0.isUnknown }
    }
  }

  /// Whether a time is the right one for what was said before it: after *I mean*, *sorry* and such, without an event
  /// between them.
  func corrects(_ phrase: Range<Int>) -> Bool {
    places(of: .correction).contains { place in
      place < phrase.lowerBound && areInOneStatement(place, phrase.lowerBound)
        && !lexemes[place..<phrase.lowerBound].contains { $0.event != nil }
    }
  }

  private func isAlternative(_ phrase: Range<Int>) -> Bool {
    lexeme(before: phrase)?.means(.or) == true || lexemes[phrase.upperBound...].first?.means(.or) == true
  }

  private func hasCondition(before index: Int) -> Bool {
    places(of: .condition).contains { $0 < index && areInOneStatement($0, index) }
  }

  func isOnlyPossible(_ mention: EventMention) -> Bool {
    hasHedge(before: mention.index, outside: mention.index..<mention.index)
  }

  private func hasHedge(before index: Int, outside phrase: Range<Int>) -> Bool {
    places(of: .hedge).contains { $0 < index && areInOneClause($0, index) && !phrase.contains($0) }
  }

  /// Whether a hedge follows directly, or after a pause and before another: *Friday might be moved*, *Friday, maybe*.
  private func isHedged(after phrase: Range<Int>) -> Bool {
    let index = phrase.upperBound
    guard index < lexemes.count else { return false }
    if lexemes[index].means(.hedge) { return true }
    guard lexemes[index].isPause, index + 1 < lexemes.count, lexemes[index + 1].means(.hedge) else { return false }
    return index + 2 >= lexemes.count || lexemes[index + 2].isPause
  }
}

extension SentenceMap {
  /// Whether the words between a day and a time before or after it keep them apart: *at 5, after what happened Sunday*.
  func divides(_ day: Range<Int>, _ time: Range<Int>) -> Bool {
    let isAfter = day.lowerBound > time.lowerBound
    let gap = isAfter ? time.upperBound..<day.lowerBound : day.upperBound..<time.lowerBound
    return lexemes[gap].contains { lexeme in
      if lexeme.means(.pastSense) || lexeme.means(.bound) { return true }
      return isAfter && (lexeme.means(.and) || lexeme.means(.asking) && !lexeme.means(.futureSense))
    }
  }
}

// Whether a time was read whole.
extension SentenceMap {
  /// Whether a word beside the phrase was not understood and may change its day, as in *nxt Thurs* or *Friday 2 weeks*.
  func hasUnreadWord(beside phrase: Range<Int>, hasDay: Bool) -> Bool {
    if lexemes[phrase.lowerBound].means(.approximately), hasDay { return true }
    if countsDays(phrase.lowerBound) { return true }
    if let after = lexemes[phrase.upperBound...].first(where: { !$0.isLink }) {
      if after.isLeftOfTime || after.kind == .mark(.sign) { return true }
      if after.means(.bound), lexemes[phrase.lowerBound].means(.article) { return true }
    }
    if lexemes[..<phrase.lowerBound].last(where: { !$0.isLink })?.isLeftOfTime == true { return true }
    guard let before = lexeme(before: phrase) else { return false }
    if before.kind == .mark(.sign) || before.means(.approximately) && hasDay { return true }
    // "That Thursday" is of a week named before.
    if before.means(.pronoun), before.means(.determiner), lexemes[phrase.lowerBound].weekday != nil { return true }
    return before.isUnknown && !before.hasClitic && isModifier(phrase.lowerBound - 1, of: phrase, hasDay: hasDay)
  }

  /// Whether an unknown word belongs to the time after it and not to the words before it.
  private func isModifier(_ index: Int, of phrase: Range<Int>, hasDay: Bool) -> Bool {
    if index > 0, lexemes[index - 1].kind == .mark(.sign) { return true }
    if !hasDay { return index > 0 && lexemes[index - 1].means(.on) }
    guard lexemes[phrase.lowerBound].canBeModified else { return false }
    if lexemes[index].isShortForm { return true }
    guard index > 0 else { return true }
    let before = lexemes[index - 1]
    if before.means(.article), index > 1 {
      return lexemes[index - 2].means(.on) || lexemes[index - 2].means(.futureSense)
    }
    return before.means(.on) || before.means(.futureSense) || before.means(.pronoun) || before.isPause
  }
}

extension Lexeme {
  /// Whether it is a part of a time that no phrase took.
  fileprivate var isLeftOfTime: Bool {
    if digits != nil || groups != nil { return true }
    return isNamed || holiday != nil || selector != nil
  }

  /// Whether a word before it could give it another meaning.
  fileprivate var canBeModified: Bool { !hasClitic && isNamed }

  fileprivate var isLink: Bool { means(.on) || means(.at) || means(.article) || means(.of) }

  /// Whether it is a word of the calendar.
  private var isNamed: Bool {
    weekday != nil || month != nil || unit != nil || dayOffset != nil || ordinal != nil
  }
}
