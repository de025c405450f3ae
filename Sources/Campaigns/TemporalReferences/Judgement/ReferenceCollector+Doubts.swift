internal import FoundationEssentials

extension ReferenceCollector {
  /// The reference of a phrase; nil when the time does not exist.
  func reference(_ dated: DatedPhrase, in map: SentenceMap) -> TemporalReference? {
    let place = dated.phrase.lexemes
    let tense = map.tense(at: place)
    let isAhead = dated.phrase.day?.isAhead == true
    let isToldAsPast = tense == .past && !isAhead
    let phrase = dated.phrase.inEvening(dated.mention.map { map.lexemes[$0.index].means(.evening) } ?? false)
    guard let time = resolver.time(of: phrase, isPast: isToldAsPast) else { return nil }
    var doubts = map.doubts(of: dated)
    if dated.phrase.day == nil, hasDay { doubts.insert(.dayNamedEarlier) }
    if let doubt = time.doubt { doubts.insert(doubt) }
    if phrase.part == nil, dated.phrase.day == .offset(0), resolver.isOver(dated.phrase.clock) {
      doubts.insert(.hourOver)
    }
    if dated.phrase.day == .offset(1), resolver.isAfterMidnight { doubts.insert(.afterMidnight) }
    if map.isDestination(place), dated.phrase.day?.isAhead == false, time.start <= resolver.writtenAt {
      doubts.insert(.unreadWord)
    }
    if isToldAsPast || time.isOver(by: resolver.writtenAt) { doubts.insert(.past) }
    if !time.grain.namesDay { doubts.insert(.noDay) }
    if dated.event == nil { doubts.insert(.noEvent) }
    if dated.mention == nil { doubts.insert(.eventNamedEarlier) }
    if !isAhead, tense != .future { doubts.insert(.noVerb) }
    if doubts.contains(.noVerb), dated.phrase.day == .offset(0), map.hasPastVerb { doubts.insert(.past) }
    return TemporalReference(
      span: map.span(of: place), start: time.start, end: time.end, grain: time.grain, event: dated.event,
      doubts: doubts, writtenAt: resolver.writtenAt)
  }
}

extension ResolvedTime {
  /// Whether it has ended at a moment; an instant has not ended at itself.
  fileprivate func isOver(by moment: Date) -> Bool { start < moment && end <= moment }
}

extension TemporalPhrase {
  /// The phrase of an event that is in the evening when the hour leaves that open: *dinner at 8*.
  fileprivate func inEvening(_ isEvening: Bool) -> TemporalPhrase {
    guard isEvening, part == nil, let clock, clock.start.isAmbiguous, clock.start.minutes >= 5 * 60 else { return self }
    var phrase = self
    phrase.part = .evening
    return phrase
  }
}

extension SentenceMap {
  /// The bytes of the text that lexemes cover.
  fileprivate func span(of range: Range<Int>) -> Range<Int> {
    lexemes[range.lowerBound].span.lowerBound..<lexemes[range.upperBound - 1].span.upperBound
  }

  fileprivate func doubts(of dated: DatedPhrase) -> Set<ReadingDoubt> {
    let (phrase, mention) = (dated.phrase.lexemes, dated.mention)
    var doubts = uncertainties(of: phrase, about: mention)
    if isDenied(phrase) || mention?.isDenied == true { doubts.insert(.denied) }
    if mention?.isAnothers == true { doubts.insert(.anothers) }
    if isQuoted(phrase.lowerBound) || mention.map({ isQuoted($0.index) }) == true { doubts.insert(.quoted) }
    if isHabit(phrase, isAhead: dated.phrase.day?.isAhead == true) { doubts.insert(.habit) }
    let hasDay = dated.phrase.day != nil && dated.lender == nil
    let isUnread =
      hasUnreadWord(beside: phrase, hasDay: hasDay)
      || dated.lender.map { hasUnreadWord(beside: $0, hasDay: true) } == true
    if dated.isCrowded || isUnread { doubts.insert(.unreadWord) }
    return doubts
  }
}
