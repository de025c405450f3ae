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

/// How sure a reference is.
///
/// The numbers are judgements, not measured frequencies. What matters is the order, and on which side of 0.7 each lies:
/// at 0.7 and above a reader may be told *your presentation is tomorrow*.
enum ConfidenceScale {
  /// An event, its day, and a verb or phrase that says it lies ahead.
  static let clear = 0.9
  /// An event and its day, but no verb that says when: *presentation Friday*.
  static let bare = 0.8
  /// The event was named in an earlier sentence: *it's on Friday*. Such words mostly mean the latest event, not always.
  static let inherited = 0.75
  /// An event in a week, month or year: nobody can say that it is tomorrow.
  static let coarse = 0.5
  /// A day of which nothing known is said.
  static let eventless = 0.4
  /// Somebody else's event: it will be, but not for the reader.
  static let anothers = 0.3
  /// Possible, supposed, asked for.
  static let hypothetical = 0.3
  /// Called off or over. Not zero, as the words may have been misread.
  static let gone = 0.05

  /// The confidence of a reference.
  static func confidence(
    _ standing: TemporalStanding, hasEvent: Bool, isInherited: Bool, isAhead: Bool, grain: TemporalGrain
  ) -> Double {
    switch standing {
    case .past, .cancelled: return gone
    case .hypothetical: return hypothetical
    case .anothers: return anothers
    case .upcoming: break
    }
    guard hasEvent else { return eventless }
    guard grain.namesDay else { return coarse }
    if isInherited { return inherited }
    return isAhead ? clear : bare
  }
}
