struct DatedPhrase {
  var phrase: TemporalPhrase
  var mention: EventMention?
  var inheritedEvent: String?
  /// The place of the phrase that the day comes from; nil when it has its own.
  var lender: Range<Int>?
  /// Whether another phrase with a day touches it, so that the two may be one that was not understood.
  var isCrowded = false

  var event: String? { mention?.event ?? inheritedEvent }
}

struct SentenceReading {
  /// A time shares the event of the phrase that lends it a day if at most this many words, or no joint, separate them:
  /// *tomorrow, starts at nine*, but not *tomorrow and I get up at six*.
  private static let sharingWordsMax = 2

  let map: SentenceMap
  let mentions: [EventMention]
  var dated: [DatedPhrase]
  /// The week or month, and its event, that days in the next sentence are in.
  var period: (day: DayExpression, event: String?)?

  init(phrases: [TemporalPhrase], in map: SentenceMap, period: (day: DayExpression, event: String?)?) {
    self.map = map
    self.period = nil
    mentions = map.mentions(outside: phrases)
    let links = EventLinks(mentions, to: phrases, in: map)
    dated = zip(phrases, links.mentions).map { DatedPhrase(phrase: $0, mention: $1) }
    for index in dated.indices.dropFirst() where touches(index - 1, index) {
      (dated[index - 1].isCrowded, dated[index].isCrowded) = (true, true)
    }
    narrowDays(from: period)
    lendDays()
    for index in dated.indices where isRivalled(index) { dated[index].isCrowded = true }
  }

  /// Gives times the day of the nearest phrase before them, else after them. Drops a lent day without a separate event.
  private mutating func lendDays() {
    var lenders: Set<Int> = []
    for index in dated.indices where dated[index].phrase.day == nil {
      guard let lender = lender(for: index) else { continue }
      borrowDay(from: lender, to: index)
      if dated[lender].mention == nil || dated[lender].event == dated[index].event { lenders.insert(lender) }
    }
    dated = dated.indices.filter { !lenders.contains($0) }.map { dated[$0] }
  }

  private func lender(for index: Int) -> Int? {
    let candidates = dated.indices.filter { canLend($0, to: index) }
    return candidates.last { $0 < index } ?? candidates.first
  }

  private func canLend(_ lender: Int, to index: Int) -> Bool {
    let (phrase, borrower) = (dated[lender].phrase, dated[index].phrase)
    guard dated[lender].lender == nil, phrase.clock == nil, phrase.part == nil || borrower.part == nil,
      phrase.day?.isSingleDay == true
    else { return false }
    return map.areInOneStatement(phrase.lexemes.lowerBound, borrower.lexemes.lowerBound)
      && !map.divides(phrase.lexemes, borrower.lexemes)
  }

  private mutating func borrowDay(from lender: Int, to index: Int) {
    dated[index].phrase.day = dated[lender].phrase.day
    dated[index].phrase.part = dated[index].phrase.part ?? dated[lender].phrase.part
    dated[index].lender = dated[lender].phrase.lexemes
    if dated[index].mention == nil, areClose(lender, index) { dated[index].mention = dated[lender].mention }
  }

  private func areClose(_ first: Int, _ second: Int) -> Bool {
    let (low, high) = (dated[min(first, second)].phrase.lexemes, dated[max(first, second)].phrase.lexemes)
    let gap = low.upperBound..<high.lowerBound
    if gap.count <= Self.sharingWordsMax || !map.hasJoint(in: gap) { return true }
    return !map.lexemes[gap].contains {
      $0.means(.and) || $0.means(.writers) || $0.means(.anothers) || $0.event != nil && first > second
    }
  }
}

extension DayExpression {
  var isSingleDay: Bool {
    switch self {
    case .offset, .weekday, .weekdayOfWeek, .date, .dayOfMonth, .later, .named, .nthWeekday, .holiday: true
    case .period, .endOfPeriod, .month, .range, .elapsed, .about: false
    }
  }

  fileprivate var isCoarse: Bool {
    switch self {
    case .period, .endOfPeriod, .month: true
    default: false
    }
  }
}

extension SentenceReading {
  func isCorrected(from index: Int) -> Bool {
    dated.contains { $0.phrase.lexemes.lowerBound > index && map.corrects($0.phrase.lexemes) }
  }

  /// Whether a word before the phrase says that it is another event of the same kind.
  func namesAnother(before phrase: Range<Int>) -> Bool {
    map.places(of: .another).contains { $0 < phrase.lowerBound } || map.lexeme(before: phrase)?.means(.and) == true
  }

  /// The most known words between a pronoun and the phrase that dates it: *it will start on*.
  private static let pronounReach = 3
  /// The most words besides the phrase of a sentence that only adds to the one before.
  private static let additionWordsMax = 1

  /// Whether the phrase dates an event named earlier: after a pronoun with only known words between, alone in its
  /// sentence, or as the new time of a moved event.
  func pointsBack(_ phrase: Range<Int>) -> Bool {
    if map.isDestination(phrase) || map.corrects(phrase) { return true }
    let otherWords = map.lexemes.count - phrase.count
    if mentions.isEmpty, phrase.lowerBound == 0, otherWords <= Self.additionWordsMax { return true }
    for index in map.lexemes[..<phrase.lowerBound].indices.suffix(Self.pronounReach + 1).reversed() {
      let lexeme = map.lexemes[index]
      if lexeme.means(.pronoun) || lexeme.means(.another) { return true }
      if lexeme.isUnknown || lexeme.event != nil { return false }
    }
    return false
  }
}

/// The event that each temporal phrase of a sentence dates.
struct EventLinks {
  /// The distance that a pause or conjunction adds between a phrase and an event, in words.
  private static let jointWeight = 3
  /// The distance that a phrase without a day, or a denied one, has in addition.
  private static let weakness = 6

  private let map: SentenceMap
  private let phrases: [TemporalPhrase]
  private(set) var mentions: [EventMention?]

  /// Assigns every event to its nearest phrase, and every phrase the nearest of its events. The phrases of a list share their event.
  init(_ mentions: [EventMention], to phrases: [TemporalPhrase], in map: SentenceMap) {
    self.map = map
    self.phrases = phrases
    self.mentions = Array(repeating: nil, count: phrases.count)
    var distances = Array(repeating: Int.max, count: phrases.count)
    for mention in mentions {
      guard let (phrase, distance) = nearestPhrase(to: mention), distance < distances[phrase] else { continue }
      distances[phrase] = distance
      self.mentions[phrase] = mention
    }
    shareInLists()
  }

  private func nearestPhrase(to mention: EventMention) -> (phrase: Int, distance: Int)? {
    var nearest: (phrase: Int, distance: Int)?
    for (index, phrase) in phrases.enumerated() {
      guard map.areInOneStatement(mention.index, phrase.lexemes.lowerBound) else { continue }
      let isWeak = phrase.day?.isCoarse == true || map.isDenied(phrase.lexemes)
      let distance = distance(from: mention.index, to: phrase.lexemes) + (isWeak ? Self.weakness : 0)
      if distance < nearest?.distance ?? .max { nearest = (index, distance) }
    }
    return nearest
  }

  private func distance(from index: Int, to phrase: Range<Int>) -> Int {
    let gap = index < phrase.lowerBound ? index + 1..<phrase.lowerBound : phrase.upperBound..<index
    return map.lexemes[gap].count { !$0.means(.person) } + (map.hasJoint(in: gap) ? Self.jointWeight : 0)
  }

  /// Both ways: *exams on Monday and Wednesday*, *on Monday and Wednesday I have exams*.
  private mutating func shareInLists() {
    for index in mentions.indices.dropFirst() where mentions[index] == nil && isListed(index) {
      mentions[index] = mentions[index - 1]
    }
    for index in mentions.indices.dropLast().reversed() where mentions[index] == nil && isListed(index + 1) {
      mentions[index] = mentions[index + 1]
    }
  }

  private func isListed(_ index: Int) -> Bool {
    map.isList(in: phrases[index - 1].lexemes.upperBound..<phrases[index].lexemes.lowerBound)
  }
}

extension SentenceReading {
  func touches(_ first: Int, _ second: Int) -> Bool {
    let (first, second) = (dated[first].phrase, dated[second].phrase)
    return first.lexemes.upperBound == second.lexemes.lowerBound && first.day != nil && second.day != nil
  }

  /// Whether another day of the clause has no event, so that the event may be on that one: *the talk about Black Friday
  /// is on Tuesday*.
  func isRivalled(_ index: Int) -> Bool {
    guard dated[index].mention != nil, let day = dated[index].phrase.day else { return false }
    let place = dated[index].phrase.lexemes
    return dated[(index + 1)...].contains { other in
      let rival = other.phrase.lexemes
      guard other.event == nil, let otherDay = other.phrase.day, otherDay.isSingleDay, otherDay != day else {
        return false
      }
      let isStated =
        map.lexemes[rival.lowerBound].means(.on) || map.lexeme(before: rival)?.means(.futureSense) == true
        || map.lexemes[rival.upperBound...].first?.means(.correction) == true
      return map.areInOneClause(place.lowerBound, rival.lowerBound) && (isStated || otherDay.isAhead)
        && !map.lexemes[place.upperBound..<rival.lowerBound].contains { $0.means(.and) || $0.means(.writers) }
    }
  }

  /// Places weekdays and days of the month in the week or month named before them: *next week: Tuesday and Thursday*.
  mutating func narrowDays(from earlier: (day: DayExpression, event: String?)?) {
    // A week without an event of its own is that of whatever follows: *Next week is hard. Exam on Thursday.*
    let continues = earlier.map { earlier in
      earlier.event == nil && earlier.day.isWeek || mentions.allSatisfy { $0.event == earlier.event }
    }
    var (period, holder): (DayExpression?, Int?) = (continues == true ? earlier?.day : nil, nil)
    var narrowed: Set<Int> = []
    for index in dated.indices {
      guard let day = dated[index].phrase.day else { continue }
      if let narrower = period.flatMap(day.narrowed) {
        dated[index].phrase.day = narrower
        guard let holder else { continue }
        dated[index].mention = dated[index].mention ?? dated[holder].mention
        narrowed.insert(holder)
      } else {
        let isPeriod = day.isPeriodAhead && map.isPeriod(dated[index].phrase.lexemes)
        (period, holder) = isPeriod ? (day.wholeWeeks ?? day, index) : (day.week, nil)
      }
    }
    if let holder, let period, narrowed.isEmpty { self.period = (period, dated[holder].event) }
    dated = dated.indices.filter { !narrowed.contains($0) }.map { dated[$0] }
  }
}

extension DayExpression {
  fileprivate var isPeriodAhead: Bool {
    switch self {
    case .period(.week, let offset), .period(.month, let offset): offset > 0
    case .month(_, _, let isEnd): !isEnd
    case .about(.week, let count): count > 0
    default: false
    }
  }

  fileprivate var wholeWeeks: DayExpression? {
    if case .about(.week, let count) = self { return .period(.week, offset: count) }
    return nil
  }

  fileprivate var isWeek: Bool {
    if case .period(.week, _) = self { return true }
    return false
  }

  /// The week of a weekday that names it.
  fileprivate var week: DayExpression? {
    if case .weekdayOfWeek(_, let weeks) = self, weeks > 0 { return .period(.week, offset: weeks) }
    return nil
  }

  /// This day in a week or month; nil when it says itself where it is.
  fileprivate func narrowed(to period: DayExpression) -> DayExpression? {
    switch (self, period) {
    case (.weekday(let weekday, nil), .period(.week, let weeks)): .weekdayOfWeek(weekday, weeks: weeks)
    case (.dayOfMonth(let day, nil), .period(.month, let months)): .dayOfMonth(day, months: months)
    case (.dayOfMonth(let day, nil), .month(let month, let year, _)): .date(month: month, day: day, year: year)
    case (.named(let weekday, let day), _): day.narrowed(to: period).map { .named(weekday, $0) }
    default: nil
    }
  }
}

/// The clauses and statements of a sentence.
///
/// A pause ends a clause. A divider or a contrast ends the clause and the statement.
struct SentenceMap {
  let lexemes: [Lexeme]
  let isQuestion: Bool
  /// In the text, in Unicode scalars.
  let place: Range<Int>
  private let positions: [Position]
  private let senses: WordSenses

  private struct Position {
    /// The numbers of its clause and statement.
    var clause = 0
    var statement = 0
    var isQuoted: Bool
    /// How many joining or separating lexemes go before it.
    var joints = 0
    var events = 0
  }

  init(lexemes: [Lexeme], place: Range<Int>, isQuestion: Bool, beginsQuoted: Bool) {
    (self.lexemes, self.place, self.isQuestion) = (lexemes, place, isQuestion)
    var senses = WordSenses()
    var position = Position(isQuoted: beginsQuoted)
    var positions: [Position] = []
    positions.reserveCapacity(lexemes.count + 1)
    for index in lexemes.indices {
      senses.formUnion(lexemes[index].senses)
      if lexemes[index].kind == .mark(.quote) { position.isQuoted.toggle() }
      let divides = lexemes[index].kind == .mark(.divide) || lexemes[index].means(.contrast)
      if divides { position.statement += 1 }
      if divides || lexemes[index].isPause { position.clause += 1 }
      positions.append(position)
      if lexemes[index].isJoint { position.joints += 1 }
      if lexemes[index].event != nil { position.events += 1 }
    }
    positions.append(position)
    (self.senses, self.positions) = (senses, positions)
  }

  var endsQuoted: Bool { positions[lexemes.count].isQuoted }

  /// Whether a new statement with a subject of its own begins at a place, and the range is in it.
  func begins(_ index: Int, in range: Range<Int>) -> Bool {
    guard index < range.lowerBound, areInOneStatement(index, range.lowerBound) else { return false }
    let first = lexemes[index...].first { !$0.means(.idiom) }
    return first.map { $0.means(.writers) || $0.means(.article) || $0.means(.anothers) } == true
  }

  func isQuoted(_ index: Int) -> Bool { positions[index].isQuoted }

  func hasAny(_ senses: WordSense...) -> Bool { senses.contains(where: self.senses.contains) }

  private func hasEvent(before index: Int) -> Bool {
    let first = positions[..<index].lastIndex { $0.clause != positions[index].clause }.map { $0 + 1 } ?? 0
    return positions[index].events > positions[first].events
  }

  /// Whether the statement names a day by its distance to another, which the phrase may be: *two weeks after*, *the Friday after*.
  func countsDays(beside phrase: Range<Int>) -> Bool {
    lexemes.indices.dropLast().contains {
      lexemes[$0].isDistance && lexemes[$0 + 1].isBeforeOrAfter && !phrase.contains($0 + 1)
        && areInOneStatement($0, phrase.lowerBound)
    }
  }

  func places(of sense: WordSense) -> [Int] {
    senses.contains(sense) ? lexemes.indices.filter { lexemes[$0].means(sense) } : []
  }

  var recurrences: [Int] {
    lexemes.indices.filter { index in
      lexemes[index].means(.recurrence)
        || lexemes[index].selector == .every && index + 1 < lexemes.count && lexemes[index + 1].canRecur
    }
  }

  func areInOneClause(_ first: Int, _ second: Int) -> Bool { positions[first].clause == positions[second].clause }

  func areInOneStatement(_ first: Int, _ second: Int) -> Bool {
    positions[first].statement == positions[second].statement
  }

  func hasJoint(in range: Range<Int>) -> Bool {
    positions[range.upperBound].joints > positions[range.lowerBound].joints
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
  var isJoint: Bool { isPause || means(.and) || means(.or) }
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
    let hasEvent = hasEvent(before: phrase.lowerBound)
    for index in lexemes[phrase.upperBound...].indices where areInOneStatement(index, phrase.lowerBound) {
      if let tense = tense(ofVerbAt: index) { return tense }
      if lexemes[index].means(.asking) || hasEvent && (lexemes[index].isPause || lexemes[index].means(.and)) { break }
    }
    return .unsaid
  }

  /// Whether a word of the past follows in the clause: *got fired*, *habe … geschrieben*.
  private func isPerfect(_ index: Int) -> Bool {
    lexemes[(index + 1)...].prefix { !$0.isJoint }.contains {
      $0.means(.pastSense) || $0.means(.pastForm) || $0.means(.outcome)
    }
  }

  func tense(ofVerbAt index: Int) -> Tense? {
    let senses = lexemes[index].senses
    if senses.contains(.perfect), isPerfect(index) { return .past }
    if senses.hasAny(.postponement, .futureSense) { return .future }
    return senses.contains(.pastSense) || senses.contains(.pastForm) && canBeVerb(index) ? .past : nil
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
      || before.weekday != nil && hasEvent(before: index)
  }
}

extension Lexeme {
  fileprivate var isDistance: Bool { self.unit != nil || self.weekday != nil }
  fileprivate var isBeforeOrAfter: Bool { means(.bound) && !means(.until) }
}
