/// The clauses and statements of a sentence.
///
/// A pause ends a clause. A divider or a contrast ends the clause and the statement.
struct SentenceMap {
  let lexemes: [Lexeme]
  /// Whether the sentence ends with a question mark.
  let isQuestion: Bool
  /// The number of each lexeme's clause.
  private let clauses: [Int]
  /// The number of each lexeme's statement.
  private let statements: [Int]
  /// The number of joining or separating lexemes before each place; one more element than there are lexemes.
  private let joints: [Int]

  init(lexemes: [Lexeme], isQuestion: Bool) {
    self.lexemes = lexemes
    self.isQuestion = isQuestion
    var (clause, statement) = (0, 0)
    var (clauses, statements, joints): ([Int], [Int], [Int]) = ([], [], [0])
    for lexeme in lexemes {
      let divides = lexeme.kind == .mark(.divide) || lexeme.means(.contrast)
      if divides { statement += 1 }
      if divides || lexeme.isPause { clause += 1 }
      clauses.append(clause)
      statements.append(statement)
      joints.append(joints[joints.count - 1] + (lexeme.isJoint ? 1 : 0))
    }
    (self.clauses, self.statements, self.joints) = (clauses, statements, joints)
  }

  func areInOneClause(_ first: Int, _ second: Int) -> Bool { clauses[first] == clauses[second] }

  func areInOneStatement(_ first: Int, _ second: Int) -> Bool { statements[first] == statements[second] }

  /// Whether a lexeme in the range joins or separates things.
  func hasJoint(in range: Range<Int>) -> Bool {
    joints[range.upperBound] > joints[range.lowerBound]
  }

  /// Whether the range has only joints and prepositions, and at least one joint.
  func isList(in range: Range<Int>) -> Bool {
    hasJoint(in: range) && lexemes[range].allSatisfy { $0.isJoint || $0.means(.on) }
  }
}

extension Lexeme {
  fileprivate var isJoint: Bool { isPause || means(.and) || means(.or) }
}

extension SentenceMap {
  /// The tense that a verb gives to a phrase. The present counts as future.
  enum Tense: Equatable {
    case past
    case future
    /// No verb gives a tense.
    case unsaid
  }

  /// How many lexemes after a phrase a hedge may follow: *Friday, maybe*, *Friday might be moved*.
  private static let hedgeReach = 2

  /// The tense of the nearest verb before a phrase in its clause, else of the first after it in its statement.
  func tense(at phrase: Range<Int>) -> Tense {
    for index in lexemes[..<phrase.upperBound].indices.reversed() where areInOneClause(index, phrase.lowerBound) {
      if let tense = lexemes[index].tense { return tense }
    }
    for index in lexemes[phrase.upperBound...].indices where areInOneStatement(index, phrase.lowerBound) {
      if let tense = lexemes[index].tense { return tense }
    }
    return .unsaid
  }

  /// Whether the time of a phrase, or its event, is an assumption, a wish, a question, a possibility or a bound.
  func isUncertain(_ phrase: Range<Int>, about mention: EventMention?) -> Bool {
    if isQuestion, lexemes.first?.means(.asking) == true { return true }
    if isBound(phrase) || isAlternative(phrase) { return true }
    let last = max(phrase.lowerBound, mention?.index ?? 0)
    return hasCondition(before: last) || hasHedge(before: last, near: phrase)
  }

  /// Whether the phrase is the new time of a moved event.
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

  /// Whether the text means the time before, after or up to the phrase.
  private func isBound(_ phrase: Range<Int>) -> Bool {
    if lexemes[phrase.lowerBound].means(.bound) { return true }
    guard let before = lexeme(before: phrase) else { return false }
    return before.means(.bound) || before.means(.until) && !isDestination(phrase)
  }

  /// Whether the phrase is one of several alternatives.
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

/// A word of a sentence that names an event.
struct EventMention {
  /// Its description in the language's table.
  let event: String
  /// The index of its lexeme.
  let index: Int
  /// Whether the text denies that there is such an event.
  let isDenied: Bool
  /// Whether it belongs to another person.
  let isAnothers: Bool
}

extension SentenceMap {
  /// The most words between a denial and its event: *no more important meetings*.
  private static let determinersMax = 3

  /// The events that the sentence names outside its temporal phrases.
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

  /// Whether a denial precedes the event with only determiners between them.
  private func isDenied(_ index: Int) -> Bool {
    for before in lexemes[..<index].indices.suffix(Self.determinersMax + 1).reversed() {
      if lexemes[before].means(.negation) { return true }
      guard lexemes[before].means(.determiner) || lexemes[before].means(.article) else { return false }
    }
    return false
  }

  /// Whether the nearest owner named before the event in its clause is another person.
  ///
  /// An unknown possessive directly before the event is a person's name.
  private func isAnothers(_ index: Int) -> Bool {
    if index > 0, lexemes[index - 1].hasClitic, lexemes[index - 1].isUnknown { return true }
    for before in lexemes[..<index].indices.reversed() where areInOneClause(before, index) {
      if lexemes[before].means(.writers) { return false }
      if lexemes[before].means(.anothers) { return true }
    }
    return false
  }
}
