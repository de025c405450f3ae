/// A phrase of a sentence with its day and the event that it dates.
struct DatedPhrase {
  /// A time without a day has the day of another phrase.
  var phrase: TemporalPhrase
  var mention: EventMention?
  /// The event of an earlier sentence that this one refers to.
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
  /// The events named, in order.
  let mentions: [EventMention]
  /// In order of the text.
  var dated: [DatedPhrase]
  /// The week or month, and its event, that days in the next sentence are in.
  var period: (day: DayExpression, event: String?)?

  /// - Parameter period: that of the sentence before.
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

  /// Whether a phrase is a day without a time.
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
  /// Whether it is one day, so that it can have a time.
  var isSingleDay: Bool {
    switch self {
    case .offset, .weekday, .weekdayOfWeek, .date, .dayOfMonth, .later, .named, .nthWeekday, .holiday: true
    case .period, .endOfPeriod, .month, .range, .elapsed, .about: false
    }
  }

  /// Whether it is a week, a month or a year.
  fileprivate var isCoarse: Bool {
    switch self {
    case .period, .endOfPeriod, .month: true
    default: false
    }
  }
}

extension SentenceReading {
  /// Whether a time after the word at `index` replaces what was said before it.
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
  /// For each phrase.
  private(set) var mentions: [EventMention?]

  /// Assigns every event to its nearest phrase, and every phrase the nearest of its events. The phrases of a list share
  /// their event.
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
    return gap.count + (map.hasJoint(in: gap) ? Self.jointWeight : 0)
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
