/// Which lexemes of a sentence belong to one clause, and which clauses to one statement.
///
/// A pause ends a clause, what divides or contrasts ends a statement as well.
struct SentenceMap {
  let lexemes: [Lexeme]
  /// Whether the sentence ends with a question mark.
  let isQuestion: Bool
  /// The number of each lexeme's clause.
  private let clauses: [Int]
  /// The number of each lexeme's statement.
  private let statements: [Int]
  /// How many lexemes before each place join or separate things; one more than there are lexemes.
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

  /// Whether a lexeme that joins or separates things stands between two places.
  func hasJoint(in range: Range<Int>) -> Bool {
    joints[range.upperBound] > joints[range.lowerBound]
  }

  /// Whether only joints and prepositions stand between two places, at least one joint among them.
  func isList(in range: Range<Int>) -> Bool {
    hasJoint(in: range) && lexemes[range].allSatisfy { $0.isJoint || $0.means(.on) }
  }
}

extension Lexeme {
  fileprivate var isJoint: Bool { isPause || means(.and) || means(.or) }
}

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

/// A word of a sentence that names an event.
struct EventMention {
  /// Its description in the language's table.
  let event: String
  /// Which lexeme it is.
  let index: Int
  /// Whether the text says there is no such event.
  let isDenied: Bool
  /// Whether it is somebody else's.
  let isAnothers: Bool
}

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
