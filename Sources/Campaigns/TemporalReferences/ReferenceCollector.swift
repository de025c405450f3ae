internal import FoundationEssentials

/// Reads a text's sentences in order, and applies later sentences to the events of earlier ones.
struct ReferenceCollector {
  /// A reference, and the index of its first lexeme in its sentence.
  struct Entry {
    var reference: TemporalReference
    let sentence: Int
    let place: Int
  }

  let resolver: PhraseResolver
  let referencesMax: Int
  /// In order of the text.
  private(set) var entries: [Entry] = []
  /// Events that were called off, denied or moved without a time, in order of the text.
  var calledOff: [String] = []
  private(set) var sentence = 0
  /// The week or month of the last sentence, for weekdays and dates in the next.
  private var period: (day: DayExpression, event: String?)?
  /// The event named last. A pronoun refers to it.
  private var lastEvent: String?
  private(set) var hasDay = false
  /// The last day of an event, for a later sentence that gives only its time.
  private var lastDay: (event: String, day: DayExpression)?

  init(resolver: PhraseResolver, referencesMax: Int) {
    self.resolver = resolver
    self.referencesMax = referencesMax
  }

  /// Whether no more references are added; cancellations still count.
  var isFull: Bool { entries.count >= referencesMax }

  /// Adds the references of the next sentence and applies its cancellations.
  mutating func read(_ map: SentenceMap, phrases: [TemporalPhrase]) {
    if map.opensInPast { endBareEvents() }
    let reading = SentenceReading(phrases: phrases, in: map, period: period)
    period = reading.period
    for dated in reading.dated where !isFull { append(dated, of: reading) }
    cancelDenied(reading)
    cancelEvents(in: reading)
    lastEvent = reading.mentions.last { !$0.isDenied && !map.isOnlyPossible($0) }?.event ?? lastEvent
    sentence += 1
  }

  private mutating func append(_ dated: DatedPhrase, of reading: SentenceReading) {
    let dated = inheriting(moved(dated, in: reading.map), in: reading)
    guard let reference = reference(dated, in: reading.map) else { return }
    if let event = dated.event, let day = dated.phrase.day { lastDay = (event, day) }
    if dated.phrase.day != nil { hasDay = true }
    guard !isKnown(reference) else { return }
    if dated.mention == nil, reference.standing == .upcoming, !reading.namesAnother(before: dated.phrase.lexemes) {
      replace(reference)
    }
    entries.append(Entry(reference: reference, sentence: sentence, place: dated.phrase.lexemes.lowerBound))
  }

  /// An event of today without a verb, of which the next sentence speaks in the past: *Therapy today. That was hard.*
  private mutating func endBareEvents() {
    for index in entries.indices where entries[index].sentence == sentence - 1 {
      let reference = entries[index].reference
      guard reference.doubts.contains(.noVerb), resolver.isToday(reference.start) else { continue }
      entries[index].reference.doubts.insert(.past)
    }
  }

  /// Calls off what an earlier sentence or clause said of the same event on another day: *exam Friday, no, it's Monday*.
  private mutating func replace(_ reference: TemporalReference) {
    cancel { entry in
      let other = entry.reference
      return other.event == reference.event && other.event != nil && other.standing == .upcoming
        && (other.end <= reference.start || reference.end <= other.start)
    }
  }

  /// Whether an equal reference exists, as in *Friday, the 13th*.
  private func isKnown(_ reference: TemporalReference) -> Bool {
    entries.contains {
      let known = $0.reference
      return known.start == reference.start && known.end == reference.end && known.event == reference.event
        && known.standing == reference.standing
    }
  }

  /// The end of a range such as *moved from Monday to Wednesday*.
  private func moved(_ dated: DatedPhrase, in map: SentenceMap) -> DatedPhrase {
    guard map.isDestination(dated.phrase.lexemes) else { return dated }
    var dated = dated
    if case .range(_, let last) = dated.phrase.day { dated.phrase.day = last }
    if let end = dated.phrase.clock?.end { dated.phrase.clock = ClockExpression(start: end, end: nil) }
    return dated
  }

  /// Adds the event, and for a time the day, that earlier words supply.
  private func inheriting(_ dated: DatedPhrase, in reading: SentenceReading) -> DatedPhrase {
    guard dated.event == nil, reading.pointsBack(dated.phrase.lexemes) else { return dated }
    var dated = dated
    let start = dated.phrase.lexemes.lowerBound
    dated.inheritedEvent = reading.mentions.last { $0.index < start && !$0.isDenied }?.event ?? lastEvent
    if dated.phrase.day == nil, let lastDay, lastDay.event == dated.inheritedEvent { dated.phrase.day = lastDay.day }
    return dated
  }

  /// Marks the matching references as cancelled, except past ones.
  mutating func cancel(where isMeant: (Entry) -> Bool) {
    for index in entries.indices where entries[index].reference.standing != .past && isMeant(entries[index]) {
      entries[index].reference.doubts.insert(.calledOff)
    }
  }

  /// An event that is denied without a time cancels the earlier one of that name.
  mutating func cancelDenied(_ reading: SentenceReading) {
    let dated = Set(reading.dated.compactMap { $0.mention?.index })
    for mention in reading.mentions where mention.isDenied && !dated.contains(mention.index) {
      let sentence = sentence
      calledOff.append(mention.event)
      cancel { $0.sentence < sentence && $0.reference.event == mention.event }
    }
  }

  mutating func cancelEvents(in reading: SentenceReading) {
    for (index, lexeme) in reading.map.lexemes.enumerated() {
      let next = reading.map.lexemes[(index + 1)...].first
      if lexeme.means(.cancellation) || lexeme.means(.refusal) && next?.means(.pronoun) != false {
        callOff(at: index, in: reading, isMoved: false)
      } else if lexeme.means(.postponement) || lexeme.means(.correction) && reading.isCorrected(from: index) {
        callOff(at: index, in: reading, isMoved: true)
      }
    }
  }

  /// Cancels the times in the clause of the word at `index`, or else the earlier times of its event.
  ///
  /// A moved event keeps the times after the word, which are the new ones, and loses all earlier ones.
  private mutating func callOff(at index: Int, in reading: SentenceReading, isMoved: Bool) {
    let subject = reading.subject(at: index)
    let sentence = sentence
    let isOwn: (Entry) -> Bool = { entry in
      guard entry.sentence == sentence, !(isMoved && entry.place > index) else { return false }
      if reading.map.areInOneClause(entry.place, index) {
        return subject == nil || entry.reference.event == nil || entry.reference.event == subject
      }
      return !isMoved && subject != nil && entry.place > index && entry.reference.event == subject
        && !reading.map.isDestination(entry.place..<entry.place + 1)
    }
    let hasOwn = entries.contains { isOwn($0) && $0.reference.standing != .past }
    cancel(where: isOwn)
    guard isMoved || !hasOwn else { return }
    let isEarlier: (Entry) -> Bool = { $0.sentence < sentence || $0.place < index }
    guard let event = subject ?? entries.last(where: { isEarlier($0) && $0.reference.event != nil })?.reference.event
    else { return }
    calledOff.append(event)
    cancel { isEarlier($0) && $0.reference.event == event }
  }
}

extension SentenceReading {
  /// The event that a word is about: the nearest before it in its clause, else the first after it.
  fileprivate func subject(at index: Int) -> String? {
    let own = mentions.filter { map.areInOneClause($0.index, index) }
    return (own.last { $0.index < index } ?? own.first)?.event
  }
}

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
      start: time.start, end: time.end, grain: time.grain, event: dated.event,
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
