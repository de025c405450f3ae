internal import Foundation

extension ReferenceCollector {
  /// The reference of a phrase; nil when there is no such time.
  func reference(_ dated: DatedPhrase, in map: SentenceMap) -> TemporalReference? {
    let place = dated.phrase.lexemes
    let tense = map.tense(at: place)
    let isAhead = dated.phrase.day?.isAhead == true
    let isToldAsPast = tense == .past && !isAhead
    guard let time = resolver.time(of: dated.phrase, isPast: isToldAsPast) else { return nil }
    let isPast = isToldAsPast || time.isOver(by: resolver.writtenAt)
    let standing = standing(dated, isPast: isPast, in: map)
    let confidence = ConfidenceScale.confidence(
      standing, hasEvent: dated.event != nil, isInherited: dated.mention == nil,
      isAhead: isAhead || tense == .future, grain: time.grain)
    return TemporalReference(
      span: map.span(of: place), start: time.start, end: time.end, grain: time.grain, event: dated.event,
      standing: standing, confidence: confidence, writtenAt: resolver.writtenAt)
  }

  /// What is certain comes first: what will not be and what is over are so whoever's they are and however they are told.
  private func standing(_ dated: DatedPhrase, isPast: Bool, in map: SentenceMap) -> TemporalStanding {
    if map.isDenied(dated.phrase.lexemes) || dated.mention?.isDenied == true { return .cancelled }
    if isPast { return .past }
    if map.isUncertain(dated.phrase.lexemes, about: dated.mention) { return .hypothetical }
    return dated.mention?.isAnothers == true ? .anothers : .upcoming
  }
}

extension ResolvedTime {
  /// Whether nothing of it is left at a moment; the moment itself is.
  fileprivate func isOver(by moment: Date) -> Bool { start < moment && end <= moment }
}

extension SentenceMap {
  /// Where lexemes stand in the text.
  fileprivate func span(of range: Range<Int>) -> Range<Int> {
    lexemes[range.lowerBound].span.lowerBound..<lexemes[range.upperBound - 1].span.upperBound
  }
}
