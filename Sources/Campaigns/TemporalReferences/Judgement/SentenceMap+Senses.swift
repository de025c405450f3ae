extension SentenceMap {
  /// Whether a verb in the past, in the present or about the future says when a phrase is.
  enum Tense: Equatable {
    case past
    case future
    /// No verb that says so.
    case unsaid
  }

  /// How near behind a phrase a word must stand to make it only possible: *Friday, maybe*, *Friday might be moved*.
  private static let hedgeReach = 2

  /// The tense at a phrase: of the nearest such word before it in its clause, else of the first after it in its
  /// statement.
  func tense(at phrase: Range<Int>) -> Tense {
    for index in lexemes[..<phrase.upperBound].indices.reversed() where areInOneClause(index, phrase.lowerBound) {
      if let tense = lexemes[index].tense { return tense }
    }
    for index in lexemes[phrase.upperBound...].indices where areInOneStatement(index, phrase.lowerBound) {
      if let tense = lexemes[index].tense { return tense }
    }
    return .unsaid
  }

  /// Whether the time of a phrase, or its event, is supposed, wished, asked or only possible, or the phrase is a bound.
  func isUncertain(_ phrase: Range<Int>, about mention: EventMention?) -> Bool {
    if isQuestion, lexemes.first?.means(.asking) == true { return true }
    if isBound(phrase) || isAlternative(phrase) { return true }
    let last = max(phrase.lowerBound, mention?.index ?? 0)
    return hasCondition(before: last) || hasHedge(before: last, near: phrase)
  }

  /// Whether the phrase is the new time of something that was moved.
  func isDestination(_ phrase: Range<Int>) -> Bool {
    lexemes[..<phrase.lowerBound].indices.contains {
      lexemes[$0].means(.postponement) && areInOneClause($0, phrase.lowerBound)
    }
  }

  /// Whether the phrase is denied by the word directly before it.
  func isDenied(_ phrase: Range<Int>) -> Bool { lexeme(before: phrase)?.means(.negation) == true }

  /// The lexeme before a phrase; nil at the beginning.
  func lexeme(before phrase: Range<Int>) -> Lexeme? {
    phrase.lowerBound > 0 ? lexemes[phrase.lowerBound - 1] : nil
  }

  /// Whether only something before, after or up to the phrase is meant.
  private func isBound(_ phrase: Range<Int>) -> Bool {
    if lexemes[phrase.lowerBound].means(.bound) { return true }
    guard let before = lexeme(before: phrase) else { return false }
    return before.means(.bound) || before.means(.until) && !isDestination(phrase)
  }

  /// Whether the phrase is one of several of which one is true.
  private func isAlternative(_ phrase: Range<Int>) -> Bool {
    lexeme(before: phrase)?.means(.or) == true || lexemes[phrase.upperBound...].first?.means(.or) == true
  }

  private func hasCondition(before index: Int) -> Bool {
    lexemes[..<index].indices.contains { lexemes[$0].means(.condition) && areInOneStatement($0, index) }
  }

  private func hasHedge(before index: Int, near phrase: Range<Int>) -> Bool {
    let hasBefore = lexemes[..<index].indices.contains { lexemes[$0].means(.hedge) && areInOneClause($0, index) }
    return hasBefore || lexemes[phrase.upperBound...].prefix(Self.hedgeReach).contains { $0.means(.hedge) }
  }
}

extension Lexeme {
  fileprivate var tense: SentenceMap.Tense? {
    first { meaning in
      switch meaning {
      case .pastSense: .past
      case .futureSense, .postponement: .future
      default: nil
      }
    }
  }
}
