internal import FoundationEssentials

/// Whether a dated event is the writer's own, ahead, real and at one time: what a sentence says against it.
struct Judgement {
  private let map: SentenceMap
  private let dated: DatedPhrase
  private let tense: SentenceMap.Tense
  /// The place of the phrase, and of the last of phrase and event.
  private let phrase: Range<Int>
  private let last: Int
  private let followsOutcome: Bool

  private var lexemes: [Lexeme] { map.lexemes }
  private var mention: EventMention? { dated.mention }
  private var isAhead: Bool { dated.phrase.day?.isAhead == true }

  init(of dated: DatedPhrase, in map: SentenceMap, followsOutcome: Bool) {
    self.followsOutcome = followsOutcome
    (self.map, self.dated, phrase) = (map, dated, dated.phrase.lexemes)
    tense = map.tense(at: phrase)
    last = max(phrase.lowerBound, dated.mention?.index ?? 0)
  }

  /// Whether it is told as over, so that an uncertain day is the latest one.
  var isToldAsPast: Bool {
    !isAhead && (tense == .past || tense == .unsaid && (followsOutcome || map.tellsOutcome(beside: last)))
  }

  private static let rules: [(doubt: ReadingDoubt, holds: @Sendable (Judgement) -> Bool)] = [
    // Own.
    (.anothers, { $0.mention?.isAnothers == true }),
    (.quoted, { $0.map.isQuoted($0.phrase.lowerBound) || $0.mention.map { $0.index }.map($0.map.isQuoted) == true }),
    // Ahead.
    (.past, { $0.isToldAsPast || $0.map.has(.aftermath, before: $0.last) }),
    (.noVerb, { !$0.isAhead && $0.tense != .future }),
    (.past, { !$0.isAhead && $0.tense != .future && $0.dated.phrase.day == .offset(0) && $0.map.hasPastVerb }),
    // Once.
    (.habit, { $0.isAnyDay || $0.recurs }),
    // Real.
    (.denied, { $0.map.isDenied($0.phrase) || $0.mention?.isDenied == true }),
    (.question, { $0.map.isQuestion && $0.lexemes.first?.means(.asking) == true }),
    (.condition, { judgement in judgement.map.places(of: .condition).contains { judgement.isBefore($0) } }),
    (.possibility, { $0.isOnlyPossible && !$0.map.isObliged(after: $0.last) }),
    (.alternative, { $0.isAlternative }),
    (.bound, { $0.isBound }),
    (.purpose, { $0.isOfAnother }),
    // Read whole.
    (.noEvent, { $0.dated.event == nil }),
    (.eventNamedEarlier, { $0.mention == nil }),
    (.unreadWord, { $0.hasUnreadWord }),
  ]

  /// - Parameters:
  ///   - time: that of the phrase.
  ///   - followsDay: whether an earlier sentence named a day.
  func doubts(at time: ResolvedTime, by resolver: PhraseResolver, followingDay followsDay: Bool) -> Set<ReadingDoubt> {
    var doubts = Set(Self.rules.filter { $0.holds(self) }.map(\.doubt))
    if let doubt = time.doubt { doubts.insert(doubt) }
    if time.isOver(by: resolver.writtenAt) { doubts.insert(.past) }
    if !time.grain.namesDay { doubts.insert(.noDay) }
    let (day, clock) = (dated.phrase.day, dated.phrase.clock)
    if day == nil, followsDay { doubts.insert(.dayNamedEarlier) }
    if dated.phrase.part == nil, day == .offset(0), resolver.isOver(clock) { doubts.insert(.hourOver) }
    if day == .offset(1), resolver.isAfterMidnight { doubts.insert(.afterMidnight) }
    if map.isDestination(phrase), day?.isAhead == false, time.start <= resolver.writtenAt { doubts.insert(.unreadWord) }
    return doubts
  }

  private func isBefore(_ place: Int) -> Bool { place < last && map.areInOneStatement(place, last) }
}

extension ResolvedTime {
  /// Whether it has ended at a moment; an instant has not ended at itself.
  fileprivate func isOver(by moment: Date) -> Bool { start < moment && end <= moment }
}

// Once.
extension Judgement {
  /// Whether it is any such weekday: *on a Thursday*.
  private var isAnyDay: Bool {
    phrase.dropLast().contains {
      lexemes[$0].means(.article) && lexemes[$0].count == 1 && lexemes[$0 + 1].weekday != nil
    }
  }

  /// Whether it happens again and again: the statement says when, or words say so that nothing separates from the phrase.
  private var recurs: Bool {
    func isBeside(_ place: Int) -> Bool {
      map.areInOneStatement(place, phrase.lowerBound)
        && !map.hasJoint(in: min(place, phrase.upperBound)..<max(place, phrase.lowerBound))
    }
    return map.places(of: .habit).contains(where: isBeside)
      || !isAhead && map.recurrences.contains { map.areInOneStatement($0, phrase.lowerBound) && governs($0) }
  }

  /// Whether what happens again and again is the event, and not what is done for it or because of it: *every Monday we have a
  /// call*, but not *I practise every day for the recital on Friday*, *the exam on Friday keeps me up every night*.
  private func governs(_ recurrence: Int) -> Bool {
    guard hasOwnDay else { return true }
    // What is on one day of the week or month is not on every day or morning.
    if lexemes[recurrence...].prefix(3).contains(where: { $0.unit == .day || $0.dayPart != nil }) { return false }
    return recurrence >= phrase.upperBound
      || !lexemes.indices.clamped(to: recurrence..<last).contains {
        lexemes[$0].means(.purpose)
          || lexemes[$0].means(.and) && mention?.index ?? 0 > $0 && map.begins($0 + 1, in: phrase)
      }
  }

  private var hasOwnDay: Bool { dated.phrase.day != nil && dated.lender == nil }
}

// Real.
extension Judgement {
  private var isOnlyPossible: Bool {
    map.hasHedge(before: last, outside: phrase) || map.isHedged(after: phrase)
  }

  private var isAlternative: Bool {
    map.lexeme(before: phrase)?.means(.or) == true || lexemes[phrase.upperBound...].first?.means(.or) == true
  }

  /// Whether the text means the time before, after or up to the phrase, which is not that of an event that is due by it.
  private var isBound: Bool {
    if lexemes[phrase.lowerBound].means(.by) { return mention.map { lexemes[$0.index].means(.dueBy) } != true }
    if lexemes[phrase.lowerBound].means(.bound) {
      if case .later = dated.phrase.day { return false }
      return true
    }
    let first = phrase.lowerBound - 1
    guard let before = first > 0 && lexemes[first].means(.article) ? lexemes[first - 1] : map.lexeme(before: phrase)
    else { return false }
    return before.means(.bound) || before.means(.until) && !map.isDestination(phrase)
  }

  /// Whether the day is that of something for the event: *buying shoes tomorrow for the wedding*, *my suit for the wedding
  /// arrives Friday*.
  private var isOfAnother: Bool {
    guard let mention else { return false }
    let next = mention.index + 1
    let hasVerb = next < phrase.lowerBound && (lexemes[next].isUnknown || lexemes[next].means(.othersVerb))
    return map.places(of: .purpose).contains { place in
      (phrase.upperBound <= place || hasVerb) && place < mention.index && map.areInOneClause(place, phrase.lowerBound)
        && lexemes[place + 1..<mention.index].allSatisfy { $0.means(.determiner) || $0.means(.article) || $0.isUnknown }
    }
  }
}

// Read whole.
extension Judgement {
  private var hasUnreadWord: Bool {
    dated.isCrowded || map.hasUnreadWord(beside: phrase, hasDay: hasOwnDay)
      || dated.lender.map { map.hasUnreadWord(beside: $0, hasDay: true) } == true
  }
}

struct EventMention {
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
      // "Exam prep" is no exam.
      if lexemes[(index + 1)...].first(where: { $0.event == nil })?.means(.artefact) == true { continue }
      // Of "anniversary dinner" the last word is the event.
      if mentions.last?.index == index - 1 { mentions.removeLast() }
      let isDenied = isDenied(index) && !isObliged(after: index)
      mentions.append(EventMention(event: event, index: index, isDenied: isDenied, isAnothers: isAnothers(index)))
    }
    return mentions
  }

  /// Whether what follows says that it is to be done all the same: *but I have to*.
  func isObliged(after index: Int) -> Bool {
    places(of: .obliged).contains { $0 > index }
  }

  /// The most words between a refusal and its event: *skipping that boring team meeting*.
  private static let refusalReach = 5

  /// Whether the writer refuses the event, or a denial precedes it with only determiners between them.
  private func isDenied(_ index: Int) -> Bool {
    if isRefused(index) { return true }
    for before in lexemes[..<index].indices.suffix(Self.determinersMax + 1).reversed() {
      if lexemes[before].means(.negation) { return !isNegated(before) }
      let isFirstOfTwo = lexemes[before].event != nil && before == index - 1
      guard isFirstOfTwo || lexemes[before].means(.determiner) || lexemes[before].means(.article) else { return false }
    }
    return false
  }

  /// Whether a refusal, or an attendance that is denied, precedes the event.
  private func isRefused(_ index: Int) -> Bool {
    // In "I can't sleep before my exam" another thing is denied.
    var isApart = false
    let end = lexemes[(index + 1)...].firstIndex { $0.isJoint } ?? lexemes.count
    if end > index + 1, lexemes[end - 1].means(.attending), isNegated(end - 1) { return true }
    for before in lexemes[..<index].indices.suffix(Self.refusalReach).reversed() {
      let lexeme = lexemes[before]
      if lexeme.means(.refusal) { return !isNegated(before) }
      if lexeme.means(.attending), !isApart, areInOneClause(before, index), isNegated(before) { return true }
      isApart = isApart || lexeme.means(.bound) || lexeme.means(.purpose)
      // The first of two events that touch only describes the second.
      let isEvent = lexeme.event != nil && before < index - 1
      let isPronoun = lexeme.means(.pronoun) && !lexeme.means(.determiner)
      if isEvent || isPronoun || lexeme.means(.contrast) { return false }
    }
    return false
  }

  /// Whether a negation or refusal governs a verb, with nothing but auxiliaries between them: *won't even go to*, *not going to
  /// sit*, *refuse to take*.
  private func isNegated(_ verb: Int) -> Bool {
    for before in lexemes[..<verb].indices.suffix(Self.determinersMax).reversed() {
      if lexemes[before].means(.negation) || lexemes[before].means(.refusing) { return true }
      guard lexemes[before].means(.auxiliary) else { return false }
    }
    return false
  }

  /// Whether the nearest owner named before the event in its clause is another person.
  ///
  /// An unknown possessive before the event is a person's name.
  private func isAnothers(_ index: Int) -> Bool {
    let isShared = lexemes[index].means(.shared)
    if includesWriter(beside: index) { return false }
    if isForAnother(index) || !isShared && isOfPerson(index) { return true }
    for before in lexemes[..<index].indices.reversed() where areInOneClause(before, index) {
      let lexeme = lexemes[before]
      if lexeme.means(.writers) { return false }
      if lexeme.hasClitic, lexeme.isUnknown, !isShared { return true }
      if lexeme.means(.person), lexemes[index].means(.attended) { return false }
      if lexeme.means(.anothers) { return !(isShared && lexeme.hasClitic) }
      if lexeme.means(.person), isSubject(before, of: index) { return !(isShared && lexeme.hasClitic) }
      let hasObject = lexemes[before + 1..<index].contains { !$0.means(.idiom) }
      if lexeme.means(.othersVerb), hasObject || !isShared, hasOtherSubject(before) { return true }
    }
    return false
  }

  /// Whether a person is the subject or owner, and not one with whom something is done, or the kind of event: *my boss has a
  /// review*, but not *for my boss I have a talk* or *a client meeting*.
  private func isSubject(_ person: Int, of event: Int) -> Bool {
    if lexemes[person].hasClitic { return true }
    if person + 1 == event || lexemes[person..<event].contains(where: { $0.means(.postponement) }) { return false }
    let before = lexemes[..<person].last { !$0.means(.determiner) && !$0.means(.article) && !$0.means(.writers) }
    return before.map { $0.means(.companion) || $0.means(.purpose) || $0.means(.until) || $0.event != nil } != true
  }

  /// Whether it is a person's: *the review of my colleague*.
  private func isOfPerson(_ index: Int) -> Bool {
    guard index + 2 < lexemes.count, lexemes[index + 1].means(.of) else { return false }
    return lexemes[(index + 2)...].prefix(Self.determinersMax).contains {
      ($0.means(.person) || $0.means(.anothers)) && !$0.hasClitic
    }
  }

  /// Whether the statement says for whom it is, or another person comes right after the event: *surgery for my dad*, *the
  /// exam my brother has*.
  private func isForAnother(_ index: Int) -> Bool {
    let rest = lexemes[(index + 1)...].drop { $0.means(.writers) }
    if let person = rest.first, person.means(.anothers) || person.means(.person),
      rest.dropFirst().first?.means(.othersVerb) == true
    {
      return true
    }
    return places(of: .purpose).contains { place in
      guard areInOneStatement(place, index) else { return false }
      let person = lexemes[(place + 1)...].first { !$0.means(.writers) }
      return person.map { ($0.means(.anothers) || $0.means(.person)) && !$0.hasClitic } == true
    }
  }

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

// Whether it is ahead.
extension SentenceMap {
  /// Whether the sentence begins with who did something, or with what something was.
  var opensInPast: Bool { lexemes.indices.prefix(Self.determinersMax).contains { tense(ofVerbAt: $0) == .past } }

  var hasPastVerb: Bool { lexemes.indices.contains { tense(ofVerbAt: $0) == .past } }

  /// Whether the sentence only says how something went: *passed!!!*, *92%*.
  var isOutcome: Bool {
    func tells(_ lexeme: Lexeme) -> Bool { lexeme.means(.outcome) || lexeme.means(.pastSense) }
    return lexemes.count <= Self.determinersMax && lexemes.contains(where: tells)
      && lexemes.allSatisfy { tells($0) || $0.means(.writers) || $0.means(.pronoun) || $0.isPause }
  }

  func tellsOutcome(beside index: Int) -> Bool {
    places(of: .outcome).contains { areInOneStatement($0, index) && lexemes[..<$0].last?.means(.futureSense) != true }
  }

  func has(_ sense: WordSense, before index: Int) -> Bool {
    places(of: sense).contains { $0 < index && areInOneClause($0, index) }
  }

  func isDestination(_ phrase: Range<Int>) -> Bool { has(.postponement, before: phrase.lowerBound) }

  func isDenied(_ phrase: Range<Int>) -> Bool { lexeme(before: phrase)?.means(.negation) == true }

  func lexeme(before phrase: Range<Int>) -> Lexeme? {
    phrase.lowerBound > 0 ? lexemes[phrase.lowerBound - 1] : nil
  }

  /// Whether a time is the right one for what was said before it: after *I mean*, *sorry* and such, without an event between them.
  func corrects(_ phrase: Range<Int>) -> Bool {
    places(of: .correction).contains { place in
      place < phrase.lowerBound && areInOneStatement(place, phrase.lowerBound)
        && !lexemes[place..<phrase.lowerBound].contains { $0.event != nil }
    }
  }

  func isOnlyPossible(_ mention: EventMention) -> Bool {
    hasHedge(before: mention.index, outside: mention.index..<mention.index)
  }

  func hasHedge(before index: Int, outside phrase: Range<Int>) -> Bool {
    places(of: .hedge).contains { $0 < index && areInOneClause($0, index) && !phrase.contains($0) }
  }

  /// Whether a hedge follows directly, or after a pause and before another: *Friday might be moved*, *Friday, maybe*.
  func isHedged(after phrase: Range<Int>) -> Bool {
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
    if countsDays(beside: phrase) { return true }
    if let after = lexemes[phrase.upperBound...].first(where: { !$0.isLink }) {
      if after.isLeftOfTime || after.kind == .mark(.sign) { return true }
      if after.means(.bound), lexemes[phrase.lowerBound].means(.article) { return true }
    }
    if lexemes[..<phrase.lowerBound].last(where: { !$0.isLink })?.isLeftOfTime == true { return true }
    guard let before = lexeme(before: phrase) else { return false }
    if before.kind == .mark(.sign) || before.means(.approximately) && !before.isFiller && hasDay { return true }
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
    return isNamed || self.holiday != nil || self.selector != nil
  }

  /// Whether a word before it could give it another meaning.
  fileprivate var canBeModified: Bool { !hasClitic && isNamed }

  /// Whether it says nothing of how exact a count is: *just two days*.
  fileprivate var isFiller: Bool { means(.idiom) }

  fileprivate var isLink: Bool { means(.on) || means(.at) || means(.article) || means(.of) }

  private var isNamed: Bool {
    self.weekday != nil || self.month != nil || self.unit != nil || self.dayOffset != nil || ordinal != nil
  }
}
