/// The dated phrases of one sentence.
struct SentenceReading {
  /// A time shares the event of the phrase whose day it borrows when at most this many words are between them, or no
  /// joint: *tomorrow, starts at nine*, but not *tomorrow and I get up at six*.
  private static let sharingWordsMax = 2

  let map: SentenceMap
  /// The events named, in order.
  let mentions: [EventMention]
  /// In order of the text.
  private(set) var dated: [DatedPhrase]

  init(phrases: [TemporalPhrase], in map: SentenceMap) {
    self.map = map
    mentions = map.mentions(outside: phrases)
    let links = EventLinks(mentions, to: phrases, in: map)
    dated = zip(phrases, links.mentions).map { DatedPhrase(phrase: $0, mention: $1) }
    lendDays()
  }

  /// Gives times the day of the nearest phrase before them, else after them, and drops the days that say no more.
  private mutating func lendDays() {
    var lenders: Set<Int> = []
    for index in dated.indices where dated[index].phrase.lacksDay {
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

  /// Whether a phrase is of a day without a time.
  private func canLend(_ lender: Int, to index: Int) -> Bool {
    let (phrase, borrower) = (dated[lender].phrase, dated[index].phrase)
    guard !dated[lender].borrowsDay, phrase.clock == nil, phrase.part == nil || borrower.part == nil,
      phrase.day?.isSingleDay == true
    else { return false }
    return map.areInOneStatement(phrase.lexemes.lowerBound, borrower.lexemes.lowerBound)
  }

  private mutating func borrowDay(from lender: Int, to index: Int) {
    dated[index].phrase.day = dated[lender].phrase.day
    dated[index].phrase.part = dated[index].phrase.part ?? dated[lender].phrase.part
    dated[index].borrowsDay = true
    if dated[index].mention == nil, areClose(lender, index) { dated[index].mention = dated[lender].mention }
  }

  private func areClose(_ first: Int, _ second: Int) -> Bool {
    let (low, high) = (dated[min(first, second)].phrase.lexemes, dated[max(first, second)].phrase.lexemes)
    let gap = low.upperBound..<high.lowerBound
    return gap.count <= Self.sharingWordsMax || !map.hasJoint(in: gap)
  }
}

extension DayExpression {
  /// Whether it is one day, which can have a time.
  fileprivate var isSingleDay: Bool {
    switch self {
    case .offset, .weekday, .weekdayOfWeek, .date, .dayOfMonth, .later: true
    case .period, .endOfPeriod, .month, .range, .elapsed: false
    }
  }
}
