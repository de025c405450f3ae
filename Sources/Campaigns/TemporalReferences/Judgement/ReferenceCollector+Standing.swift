internal import FoundationEssentials

extension ReferenceCollector {
  /// The reference of a phrase; nil when the time does not exist.
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

  /// Certain facts come first: a cancelled or past event is cancelled or past for every owner and in every wording.
  private func standing(_ dated: DatedPhrase, isPast: Bool, in map: SentenceMap) -> TemporalStanding {
    if map.isDenied(dated.phrase.lexemes) || dated.mention?.isDenied == true { return .cancelled }
    if isPast { return .past }
    if map.isUncertain(dated.phrase.lexemes, about: dated.mention) { return .hypothetical }
    return dated.mention?.isAnothers == true ? .anothers : .upcoming
  }
}

extension ResolvedTime {
  /// Whether it has ended at a moment; an instant has not ended at itself.
  fileprivate func isOver(by moment: Date) -> Bool { start < moment && end <= moment }
}

extension SentenceMap {
  /// The bytes of the text that lexemes cover.
  fileprivate func span(of range: Range<Int>) -> Range<Int> {
    lexemes[range.lowerBound].span.lowerBound..<lexemes[range.upperBound - 1].span.upperBound
  }
}

/// The confidence of references.
///
/// The numbers are judgements, not measured frequencies. Their order matters, and on which side of 0.7 each is: from
/// 0.7 on, a push may say *your presentation is tomorrow*.
enum ConfidenceScale {
  /// An event, its day, and a verb or phrase for the future.
  static let clear = 0.9
  /// An event and its day without a verb: *presentation Friday*.
  static let bare = 0.8
  /// An earlier sentence named the event: *it's on Friday*. Such words usually refer to the latest event.
  static let inherited = 0.75
  /// An event in a week, month or year, without the day.
  static let coarse = 0.5
  /// A day without a known event.
  static let eventless = 0.4
  /// Another person's event.
  static let anothers = 0.3
  /// A possibility, an assumption or a question.
  static let hypothetical = 0.3
  /// Called off or over. Not zero, because the reading may be wrong.
  static let gone = 0.05

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
