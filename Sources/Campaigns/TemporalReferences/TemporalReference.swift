package import FoundationEssentials

/// Finds times and their events in a message.
///
/// Pure: the same arguments give the same result, and no clock is read. Time and memory are linear in the text.
package struct TemporalReferenceFinder: Sendable {
  private let language: TemporalLanguage
  private let referencesMax: Int

  /// - Parameters:
  ///   - language: the language of all texts.
  ///   - referencesMax: the most references of one text, at least 1. Later phrases are dropped, but later cancellations
  ///     still count. A chat message rarely names more than five times; 64 leaves room for a pasted timetable and
  ///     bounds the cost of one message.
  package init(language: TemporalLanguage = .english, referencesMax: Int = 64) {
    precondition(referencesMax > 0, "a finder that may find nothing")
    self.language = language
    self.referencesMax = referencesMax
  }

  /// The references of a text, and the events that it calls off.
  ///
  /// Times are resolved against `writtenAt`, so that *tomorrow* in an old message is the day after that message. Never
  /// fails; a text in another language has no references.
  /// - Parameters:
  ///   - text: of any length.
  ///   - writtenAt: when the writer sent it.
  ///   - zone: the writer's zone at that time.
  ///   - dateOrder: the order of numeric dates in the writer's country.
  package func reading(
    of text: String, writtenAt: Date, zone: ZoneRules, dateOrder: NumericDateOrder
  ) -> TemporalReading {
    let resolver = PhraseResolver(writtenAt: writtenAt, zone: zone)
    var collector = ReferenceCollector(resolver: resolver, referencesMax: referencesMax)
    var sentences = SentenceReader(text, in: language)
    var isQuoted = false
    while case let start = sentences.position, let sentence = sentences.next() {
      let lexemes = LexemeReader(language: language, tokens: sentence.tokens).lexemes()
      let grammar = PhraseGrammar(
        lexemes: lexemes, order: dateOrder, hasTwentyFourHours: language.hasTwentyFourHours)
      let phrases = collector.isFull ? [] : grammar.phrases()
      let map = SentenceMap(
        lexemes: lexemes, place: start..<sentences.position, isQuestion: sentence.isQuestion, beginsQuoted: isQuoted)
      isQuoted = map.endsQuoted
      collector.read(map, phrases: phrases)
    }
    return TemporalReading(references: collector.entries.map(\.reference), calledOff: collector.calledOff)
  }
}

package enum NumericDateOrder: String, Equatable, Sendable {
  /// 2/20/2026, as in the United States.
  case monthDayYear = "mdy"
  /// 20/2/2026, as in most countries.
  case dayMonthYear = "dmy"
  /// 2026/2/20, and 2/20 without the year, as in East Asia.
  case yearMonthDay = "ymd"

  /// The order of a locale such as `en_US`, `en-GB` or `zh-Hant-TW`.
  ///
  /// The region decides, or else the language's largest region, which matters only for English and the year-first languages. Unicode
  /// extensions and POSIX modifiers are ignored. An unknown identifier has the order of most countries.
  package init(localeIdentifier: String) {
    let bare = localeIdentifier.prefix { $0 != "@" && $0 != "." }
    let parts = bare.split { "_-".contains($0) }.map(String.init).prefix { $0.count > 1 }
    let language = parts.first?.lowercased() ?? ""
    let region = parts.dropFirst().first { $0.count == 2 }?.uppercased()
    self = Self.order(ofRegion: region ?? Self.largestRegions[language] ?? "")
  }

  /// Source: CLDR's short date patterns.
  private static func order(ofRegion region: String) -> Self {
    switch region {
    case "US", "AS", "FM", "GU", "MH", "MP", "PH", "PR", "PW", "UM", "VI": .monthDayYear
    case "CN", "HU", "IR", "JP", "KP", "KR", "LT", "MN", "TW", "ZA": .yearMonthDay
    default: .dayMonthYear
    }
  }

  private static let largestRegions = [
    "en": "US", "fa": "IR", "hu": "HU", "ja": "JP", "ko": "KR", "lt": "LT", "mn": "MN", "zh": "CN",
  ]
}

/// A moment or stretch of time that a text names, and what is going on then.
///
/// It holds no text of the message: ``event`` is a word of the language's table, so a record of it is not personal.
package struct TemporalReference: Equatable, Sendable {
  package let start: Date
  /// The first instant after the end; never before ``start``. Equal to it for a clock time, and for a day that the zone skipped.
  package let end: Date
  package let grain: TemporalGrain
  /// The event, as the language's table describes it, such as `presentation`; nil when the text names no known event.
  package let event: String?
  package internal(set) var doubts: Set<ReadingDoubt>
  /// The instant of the message. All times are resolved against it.
  package let writtenAt: Date
  /// Where its sentence is in the text, in Unicode scalars.
  package let sentence: Range<Int>

  /// The likelihood that this event of the writer takes place at this time, in `0 ... 1`: 0.9, or what the gravest of
  /// the doubts leaves. From 0.7 on, a push may say *your presentation is tomorrow*.
  package var confidence: Double { doubts.map(\.confidenceMax).min() ?? 0.9 }

  /// Whether the event is still ahead, according to the text. A cancelled or past event is that for every owner and in
  /// every wording.
  package var standing: TemporalStanding {
    let standings = Set(doubts.compactMap(\.standing))
    return [.cancelled, .past, .hypothetical, .anothers].first(where: standings.contains) ?? .upcoming
  }
}

/// Whether the event will happen to the writer, according to the text.
package enum TemporalStanding: String, Equatable, Sendable {
  case upcoming
  /// It was over when the message was written, or the text speaks of it in the past.
  case past
  /// It was called off, denied, or moved to another time.
  case cancelled
  /// It is a wish, an assumption, a question or a possibility, or the time is one of several.
  case hypothetical
  case anothers
}

package enum TemporalGrain: String, Equatable, Sendable {
  /// A clock time, or a stretch between two of them.
  case minute
  case dayPart = "day_part"
  /// One civil day, or the days from one to another.
  case day
  /// A week or a part of one, such as a weekend, without the day.
  case week
  /// A month or the end of one, without the day.
  case month
  case year

  var namesDay: Bool {
    switch self {
    case .minute, .dayPart, .day: true
    case .week, .month, .year: false
    }
  }
}

package struct TemporalReading: Equatable, Sendable {
  package let references: [TemporalReference]
  /// Events that are called off, or moved without a new time: `presentation` in *the presentation got cancelled*. No
  /// upcoming reference has one of these events.
  package let calledOff: Set<String>

  init(references: [TemporalReference], calledOff: [String]) {
    self.references = references
    let upcoming = references.filter { $0.standing == .upcoming }.compactMap(\.event)
    self.calledOff = Set(calledOff).subtracting(upcoming)
  }
}

/// What speaks against the reading of an event in a message. Raw values are stored to explain a run.
package enum ReadingDoubt: String, CaseIterable, Comparable, Encodable, Sendable {
  /// No verb says that the event is ahead: *presentation Friday*.
  case noVerb = "no_verb"
  /// An earlier sentence named the event: *it's on Friday*.
  case eventNamedEarlier = "event_named_earlier"
  /// An earlier sentence named a day, and this one only a time, which may be of that day.
  case dayNamedEarlier = "day_named_earlier"
  /// The hour is over on that day, unless it is one of the evening.
  case hourOver = "hour_over"
  /// Written after midnight, when *tomorrow* may be the day that has begun.
  case afterMidnight = "after_midnight"
  /// The day may be that of something else that is done for the event.
  case purpose
  case unreadWord = "unread_word"
  case noDay = "no_day"
  /// A count of weeks or months, which are rarely exact to the day.
  case approximate
  case noEvent = "no_event"
  case habit
  case contradiction
  case anothers
  case quoted
  case possibility
  case condition
  case question
  /// It is a bound, such as *before Friday*.
  case bound
  case alternative
  case denied
  case calledOff = "called_off"
  case past

  /// By name, so that a list of them is always in one order.
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// The confidence that it leaves, and the standing that it gives to its reference; nil for none.
  ///
  /// The numbers are judgements, not measured frequencies. Their order matters, and on which side of 0.7 each is.
  private var effect: (confidenceMax: Double, standing: TemporalStanding?) {
    switch self {
    case .noVerb: (0.8, nil)
    case .eventNamedEarlier: (0.75, nil)
    case .unreadWord, .dayNamedEarlier, .hourOver, .afterMidnight, .purpose: (0.6, nil)
    case .noDay, .approximate: (0.5, nil)
    case .noEvent, .habit: (0.4, nil)
    case .contradiction: (0.3, nil)
    case .anothers, .quoted: (0.3, .anothers)
    case .possibility, .condition, .question, .bound, .alternative: (0.3, .hypothetical)
    // Not zero, because the reading may be wrong.
    case .denied, .calledOff: (0.05, .cancelled)
    case .past: (0.05, .past)
    }
  }

  package var confidenceMax: Double { effect.confidenceMax }
  var standing: TemporalStanding? { effect.standing }
}

/// Reads a text's sentences in order, and applies later sentences to the events of earlier ones.
struct ReferenceCollector {
  struct Entry {
    var reference: TemporalReference
    let sentence: Int
    let place: Int
  }

  let resolver: PhraseResolver
  let referencesMax: Int
  private(set) var entries: [Entry] = []
  /// Events that were called off, denied or moved without a time, in order of the text.
  var calledOff: [String] = []
  private(set) var sentence = 0
  /// The week or month of the last sentence, for weekdays and dates in the next.
  private var period: (day: DayExpression, event: String?)?
  private var lastEvent: String?
  private(set) var hasDay = false
  private var followsOutcome = false
  /// The last day of an event, for a later sentence that gives only its time.
  private var lastDay: (event: String, day: DayExpression)?

  init(resolver: PhraseResolver, referencesMax: Int) {
    self.resolver = resolver
    self.referencesMax = referencesMax
  }

  /// Whether no more references are added; cancellations still count.
  var isFull: Bool { entries.count >= referencesMax }

  mutating func read(_ map: SentenceMap, phrases: [TemporalPhrase]) {
    if map.opensInPast || map.isOutcome { endBareEvents(of: map) }
    let reading = SentenceReading(phrases: phrases, in: map, period: period)
    period = reading.period
    for dated in reading.dated where !isFull { append(dated, of: reading) }
    cancelDenied(reading)
    cancelEvents(in: reading)
    lastEvent = reading.mentions.last { !$0.isDenied && !map.isOnlyPossible($0) }?.event ?? lastEvent
    followsOutcome = map.isOutcome
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

  /// An event of today without a verb, of which the next sentence speaks in the past, and one of any day if that sentence only
  /// says how it went: *Therapy today. That was hard.* *The exam on Friday? Passed!*
  private mutating func endBareEvents(of map: SentenceMap) {
    for index in entries.indices where entries[index].sentence == sentence - 1 {
      let reference = entries[index].reference
      guard reference.doubts.contains(.noVerb), map.isOutcome || resolver.isToday(reference.start) else { continue }
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
    guard reading.map.hasAny(.cancellation, .refusal, .postponement, .correction) else { return }
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
      // "Cancelled: my exam on Friday."
      if index == 0, reading.map.lexemes.dropFirst().first?.isPause == true { return true }
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
    let judgement = Judgement(of: dated, in: map, followsOutcome: followsOutcome)
    let phrase = dated.phrase.atHour(of: dated.mention.map { map.lexemes[$0.index] })
    guard let time = resolver.time(of: phrase, isPast: judgement.isToldAsPast) else { return nil }
    return TemporalReference(
      start: time.start, end: time.end, grain: time.grain, event: dated.event,
      doubts: judgement.doubts(at: time, by: resolver, followingDay: hasDay), writtenAt: resolver.writtenAt,
      sentence: map.place)
  }
}

extension TemporalPhrase {
  /// With the half of the day that the event has when its hour leaves that open: *dinner at 8*, *surgery at 6*.
  fileprivate func atHour(of event: Lexeme?) -> TemporalPhrase {
    guard let event, part == nil, let clock, clock.start.isAmbiguous, clock.start.minutes >= 5 * 60 else { return self }
    var phrase = self
    phrase.part = event.means(.evening) ? .evening : event.means(.early) ? .morning : nil
    return phrase
  }
}
