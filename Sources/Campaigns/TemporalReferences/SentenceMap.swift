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
  private let quoted: [Bool]
  /// The statements that name a day by its distance to another: *two weeks after*, *the Friday after*.
  private let relative: Set<Int>
  /// The indices of the lexemes that name an event, and of those with each sense, in order.
  private let events: [Int]
  private let places: [WordSense: [Int]]
  let endsQuoted: Bool

  /// - Parameter beginsQuoted: whether the sentence before ended within quotation marks.
  init(lexemes: [Lexeme], isQuestion: Bool, beginsQuoted: Bool) {
    self.lexemes = lexemes
    self.isQuestion = isQuestion
    var (clause, statement, isQuoted) = (0, 0, beginsQuoted)
    var (clauses, statements, joints, quoted): ([Int], [Int], [Int], [Bool]) = ([], [], [0], [])
    var places: [WordSense: [Int]] = [:]
    for (index, lexeme) in lexemes.enumerated() {
      for case .sense(let sense) in lexeme.meanings { places[sense, default: []].append(index) }
      let next = index + 1 < lexemes.count ? lexemes[index + 1] : nil
      if lexeme.selector == .every, next?.canRecur == true { places[.recurrence, default: []].append(index) }
      if lexeme.kind == .mark(.quote) { isQuoted.toggle() }
      quoted.append(isQuoted)
      let divides = lexeme.kind == .mark(.divide) || lexeme.means(.contrast)
      if divides { statement += 1 }
      if divides || lexeme.isPause { clause += 1 }
      clauses.append(clause)
      statements.append(statement)
      joints.append(joints[joints.count - 1] + (lexeme.isJoint ? 1 : 0))
    }
    (self.clauses, self.statements, self.joints, self.quoted) = (clauses, statements, joints, quoted)
    self.places = places
    relative = Set(
      lexemes.indices.dropLast().filter { lexemes[$0].isDistance && lexemes[$0 + 1].isBeforeOrAfter }.map {
        statements[$0]
      })
    events = lexemes.indices.filter { lexemes[$0].event != nil }
    endsQuoted = isQuoted
  }

  func isQuoted(_ index: Int) -> Bool { quoted[index] }

  /// Whether days in the statement of a lexeme may be those that others are counted from.
  func countsDays(_ index: Int) -> Bool { relative.contains(statements[index]) }

  /// The indices of the lexemes with a sense, in order.
  func places(of sense: WordSense) -> [Int] { places[sense] ?? [] }

  func areInOneClause(_ first: Int, _ second: Int) -> Bool { clauses[first] == clauses[second] }

  func areInOneStatement(_ first: Int, _ second: Int) -> Bool { statements[first] == statements[second] }

  func hasJoint(in range: Range<Int>) -> Bool {
    joints[range.upperBound] > joints[range.lowerBound]
  }

  /// Whether a week or month is when something is, and not a word beside another: *in May*, but not *the May figures*.
  func isPeriod(_ phrase: Range<Int>) -> Bool {
    lexemes[phrase.lowerBound].means(.ahead) || lexemes[phrase].contains { $0.selector != nil || $0.unit != nil }
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
    case unsaid
  }

  /// The tense of the nearest verb before a phrase in its clause, else of the first after it in its statement, or in its
  /// clause up to a conjunction when an event stands before the phrase.
  func tense(at phrase: Range<Int>) -> Tense {
    for index in lexemes[..<phrase.upperBound].indices.reversed() where areInOneClause(index, phrase.lowerBound) {
      if let tense = tense(ofVerbAt: index) { return tense }
    }
    let hasEvent = events.contains { $0 < phrase.lowerBound && areInOneClause($0, phrase.lowerBound) }
    for index in lexemes[phrase.upperBound...].indices where areInOneStatement(index, phrase.lowerBound) {
      if let tense = tense(ofVerbAt: index) { return tense }
      if lexemes[index].means(.asking) || hasEvent && (lexemes[index].isPause || lexemes[index].means(.and)) { break }
    }
    return .unsaid
  }

  private func tense(ofVerbAt index: Int) -> Tense? {
    lexemes[index].first { meaning in
      switch meaning {
      case .sense(.pastSense): .past
      case .sense(.pastForm): canBeVerb(index) ? .past : nil
      case .sense(.futureSense), .sense(.postponement): .future
      default: nil
      }
    }
  }

  /// Whether a verb may stand here: at the beginning of a clause, or after who did it.
  private func canBeVerb(_ index: Int) -> Bool {
    guard index > 0, areInOneClause(index - 1, index), !lexemes[index - 1].isPause else { return true }
    let before = lexemes[index - 1]
    if before.means(.futureSense) || before.means(.pastSense) {
      return before.means(.pronoun) && !before.means(.futureSense)
    }
    return before.means(.writers) || before.means(.anothers) || before.means(.pronoun) || before.means(.and)
      || before.means(.idiom) && index > 1 && canBeVerb(index - 1) || before.event != nil || before.means(.contrast)
  }
}

struct EventMention {
  /// Its description in the language's table.
  let event: String
  let index: Int
  let isDenied: Bool
  let isAnothers: Bool
}

extension SentenceMap {
  /// The most words between a denial and its event: *no more important meetings*.
  private static let determinersMax = 3

  func mentions(outside phrases: [TemporalPhrase]) -> [EventMention] {
    var mentions: [EventMention] = []
    var next = phrases[...]
    for (index, lexeme) in lexemes.enumerated() {
      while let phrase = next.first, phrase.lexemes.upperBound <= index { next.removeFirst() }
      guard let event = lexeme.event, next.first?.lexemes.contains(index) != true else { continue }
      // Of "anniversary dinner" the last word is the event.
      if mentions.last?.index == index - 1 { mentions.removeLast() }
      mentions.append(
        EventMention(event: event, index: index, isDenied: isDenied(index), isAnothers: isAnothers(index)))
    }
    return mentions
  }

  /// The most words between a refusal and its event: *skipping that boring team meeting*.
  private static let refusalReach = 5

  /// Whether the writer refuses the event, or a denial precedes it with only determiners between them.
  private func isDenied(_ index: Int) -> Bool {
    if isRefused(index) { return true }
    for before in lexemes[..<index].indices.suffix(Self.determinersMax + 1).reversed() {
      if lexemes[before].means(.negation) { return true }
      let isFirstOfTwo = lexemes[before].event != nil && before == index - 1
      guard isFirstOfTwo || lexemes[before].means(.determiner) || lexemes[before].means(.article) else { return false }
    }
    return false
  }

  private func isRefused(_ index: Int) -> Bool {
    for before in lexemes[..<index].indices.suffix(Self.refusalReach).reversed() {
      if lexemes[before].means(.refusal) { return true }
      // The first of two events that touch only describes the second.
      let isEvent = lexemes[before].event != nil && before < index - 1
      let isPronoun = lexemes[before].means(.pronoun) && !lexemes[before].means(.determiner)
      if isEvent || isPronoun || lexemes[before].means(.contrast) { return false }
    }
    return false
  }

  /// Whether the nearest owner named before the event in its clause is another person.
  ///
  /// An unknown possessive before the event is a person's name.
  private func isAnothers(_ index: Int) -> Bool {
    let isShared = lexemes[index].means(.shared)
    if includesWriter(beside: index) { return false }
    if isForAnother(index) { return true }
    for before in lexemes[..<index].indices.reversed() where areInOneClause(before, index) {
      let lexeme = lexemes[before]
      if lexeme.means(.writers) { return false }
      if lexeme.hasClitic, lexeme.isUnknown, !isShared { return true }
      if lexeme.means(.anothers) { return !(isShared && lexeme.hasClitic) }
      let hasObject = lexemes[before + 1..<index].contains { !$0.means(.idiom) }
      if lexeme.means(.othersVerb), hasObject || !isShared, hasOtherSubject(before) { return true }
    }
    return false
  }

  /// Whether the statement says for whom it is, or another person comes right after the event: *surgery for my dad*, *the
  /// exam my brother has*.
  private func isForAnother(_ index: Int) -> Bool {
    if index + 2 < lexemes.count, lexemes[index + 1].means(.anothers), lexemes[index + 2].means(.othersVerb) {
      return true
    }
    return places(of: .purpose).contains { place in
      areInOneStatement(place, index) && place + 1 < lexemes.count && lexemes[place + 1].means(.anothers)
        && !lexemes[place + 1].hasClitic
    }
  }

  /// Whether the sentence begins with who did something, or with what something was.
  var opensInPast: Bool { lexemes.indices.prefix(Self.determinersMax).contains { tense(ofVerbAt: $0) == .past } }

  var hasPastVerb: Bool { lexemes.indices.contains { tense(ofVerbAt: $0) == .past } }

  /// Whether the writer is named beside others before the event, or as the object soon after it.
  private func includesWriter(beside index: Int) -> Bool {
    places(of: .includesWriter).contains {
      $0 <= index + Self.determinersMax && areInOneClause($0, index) && ($0 < index || !lexemes[$0].means(.and))
    }
  }

  /// Whether the subject of a verb in the third person is an unknown word: a person, a team, a company.
  private func hasOtherSubject(_ verb: Int) -> Bool {
    guard verb > 0, areInOneClause(verb - 1, verb) else { return false }
    return lexemes[verb - 1].isUnknown
  }
}

extension Lexeme {
  fileprivate var isDistance: Bool { unit != nil || weekday != nil }
  fileprivate var isBeforeOrAfter: Bool { means(.bound) && !means(.until) }
}

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

  private var isNamed: Bool {
    weekday != nil || month != nil || unit != nil || dayOffset != nil || ordinal != nil
  }
}
