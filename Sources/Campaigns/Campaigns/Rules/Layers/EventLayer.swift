internal import FoundationEssentials
internal import TemporalReferences

/// An upcoming event that the user mentioned.
extension CampaignLayer {
  static let event = CampaignLayer(
    name: "event", pushType: "event_based",
    rules: [.noUpcomingEvent, .eventTooFar, .eventConfidenceLow, .eventCancelled, .eventOver],
    outcome: EventSearch.outcome)
}

extension LayerRule {
  static let noUpcomingEvent = LayerRule(
    "no_upcoming_event", "no message of the last seven days names something coming up")
  static let eventTooFar = LayerRule("event_too_far", "what comes up is more than a day away")
  static let eventConfidenceLow = LayerRule("event_confidence_low", "what may come up is not certain enough")
  static let eventCancelled = LayerRule("event_cancelled", "what was coming up was called off")
  static let eventOver = LayerRule("event_over", "what was coming up is over")
}

private enum EventSearch {
  /// The greatest age of a message that counts, in seconds; inclusive.
  static let messageAgeMax = 7.0 * 86_400
  /// The longest time until an event begins, in seconds; inclusive. An event that ends at the moment is excluded.
  static let horizon = 86_400.0
  /// The least confidence of a reading; inclusive.
  static let confidenceMin = 0.7

  typealias Candidate = (happening: Happening, span: EventSpan)

  /// The best event within the horizon: the soonest, then the one with the highest confidence, then the latest message.
  ///
  /// An event that is going on begins at the moment. A message written after the moment, during the evaluation, counts too: it
  /// may cancel an event.
  static func outcome(for material: CampaignMaterial) -> LayerOutcome {
    if material.missingSources.contains(.messages) { return .miss(.messageSourceMissing) }
    let moment = material.moment
    let recent = material.happenings.filter { moment.timeIntervalSince($0.writtenAt) <= messageAgeMax }
    let standing = StandingStatements(of: recent)
    let end = moment.addingTimeInterval(horizon)
    let near = standing.upcoming.filter { !$0.span.isOver(at: moment) && $0.span.start <= end }
    let sure = near.filter { $0.happening.confidence >= confidenceMin }
    guard let best = sure.min(by: { rank($0, at: moment) < rank($1, at: moment) }) else {
      if !near.isEmpty { return missUnsure(of: near.map(\.happening)) }
      let doubtful = recent.filter { $0.isDoubtful && $0.span?.isOver(at: moment) == false }
      return missWithoutNear(standing, doubtful: doubtful, at: moment)
    }
    return .hit(finding(of: best, in: material))
  }

  /// The lower, the better; the last two only make the result deterministic.
  private static func rank(_ one: Candidate, at moment: Date) -> (Date, Double, Double, String, Date) {
    let (happening, span) = one
    let age = moment.timeIntervalSince(happening.writtenAt)
    return (max(span.start, moment), -happening.confidence, age, happening.event, span.end)
  }

  private static func finding(of best: Candidate, in material: CampaignMaterial) -> LayerFinding {
    let (happening, span) = best
    let sentence = happening.message.unicodeScalars.dropFirst(happening.sentence.lowerBound)
    var finding = LayerFinding(
      .event, domain: material.lastConversation?.domain,
      found: ["event": happening.event, "when": span.words(at: material.moment, in: material.localTime)],
      topic: String(sentence.prefix(happening.sentence.count)))
    for (name, instant) in [("date", span.start), ("today", material.moment), ("written", happening.writtenAt)] {
      let day = CivilDay(number: material.localTime.day(of: instant))
      finding.days[name] = "\(day.weekdayName) \(day.description)"
    }
    finding.grain = span.grain
    finding.confidence = happening.confidence
    finding.doubts = happening.doubts.sorted()
    return finding
  }

  /// With what speaks against the surest event.
  private static func missUnsure(of near: [Happening]) -> LayerOutcome {
    let surest = near.max { $0.confidence < $1.confidence }
    return .miss(
      .eventConfidenceLow,
      ["count": Double(near.count), "confidence": surest?.confidence ?? 0, "confidence_needed": confidenceMin],
      doubts: surest?.doubts.filter { $0.confidenceMax < confidenceMin }.sorted() ?? [])
  }

  /// Why no event is near. A cancelled event explains more than a far one, and a far one more than one that is over.
  private static func missWithoutNear(
    _ standing: StandingStatements, doubtful: [Happening], at moment: Date
  ) -> LayerOutcome {
    if standing.cancelledCount > 0 { return .miss(.eventCancelled, ["count": Double(standing.cancelledCount)]) }
    let later = standing.upcoming.filter { !$0.span.isOver(at: moment) }
    if let nearest = later.map(\.span.start).min() {
      let ahead = nearest.timeIntervalSince(moment)
      return .miss(
        .eventTooFar, ["count": Double(later.count), "ahead_seconds": ahead, "ahead_seconds_max": horizon])
    }
    let overCount = standing.overCount + standing.upcoming.count
    if overCount > 0 { return .miss(.eventOver, ["count": Double(overCount)]) }
    return doubtful.isEmpty ? .miss(.noUpcomingEvent) : missUnsure(of: doubtful)
  }
}

/// The statements about events that still hold: for each event those of the newest message about it.
///
/// The newest message always replaces older ones, at any confidence. This loses the first of two presentations when a
/// later message mentions the second. A question about a cancelled event would be worse.
private struct StandingStatements {
  private(set) var upcoming: [EventSearch.Candidate] = []
  private(set) var cancelledCount = 0
  private(set) var overCount = 0

  /// - Parameter happenings: in any order. Those of one message have the same time of writing.
  init(of happenings: [Happening]) {
    let telling = happenings.filter { !$0.isDoubtful && ($0.span != nil || $0.standing != .upcoming) }
    for statements in Dictionary(grouping: telling, by: \.event).values {
      guard let newest = statements.map(\.writtenAt).max() else { continue }
      add(statements.filter { $0.writtenAt == newest })
    }
  }

  /// Adds the statements of one message about one event. An end cancels the upcoming ones at the same time, or all of
  /// them when it names no time: "not on Monday, it is on Thursday" leaves Thursday.
  private mutating func add(_ statements: [Happening]) {
    let ends = statements.filter { $0.standing != .upcoming }
    cancelledCount += ends.contains { $0.standing == .cancelled } ? 1 : 0
    overCount += ends.contains { $0.standing == .past } ? 1 : 0
    for statement in statements where statement.standing == .upcoming {
      guard let span = statement.span, !ends.contains(where: { $0.span?.overlaps(span) ?? true }) else { continue }
      upcoming.append((statement, span))
    }
  }
}

/// One message's statement about one event.
struct Happening: Equatable {
  /// The event's canonical word, such as `presentation`; never the user's own text. The same word means the same event.
  var event: String
  /// The event's time; nil when the message names none. An upcoming event without a time is ignored.
  var span: EventSpan?
  /// The confidence of the reading, in 0...1.
  let confidence: Double
  var writtenAt: Date
  var standing = TemporalStanding.upcoming
  var doubts: Set<ReadingDoubt> = []
  /// The user's words: a message, and where in it the sentence is, in Unicode scalars.
  var message = ""
  var sentence = 0..<0

  /// Whether it is a wish, an assumption or another person's. It only explains why nothing was found.
  var isDoubtful: Bool { standing == .hypothetical || standing == .anothers }
}

/// The time of an event: an instant, a part of a day, a day, or longer.
struct EventSpan: Equatable {
  let start: Date
  /// The first instant afterwards; equal to the start for an instant, never before it.
  let end: Date
  /// Whether the message names days and no time of day.
  let isDayOnly: Bool

  /// A span. An end before the start becomes the start.
  init(start: Date, end: Date, isDayOnly: Bool = false) {
    self.start = start
    self.end = max(start, end)
    self.isDayOnly = isDayOnly
  }

  var grain: EventGrain {
    if end.timeIntervalSince(start) > Self.dayMax { return .period }
    if isDayOnly { return .day }
    return start == end ? .instant : .partOfDay
  }

  /// The longest local day: 25 hours, when daylight saving time ends.
  private static let dayMax = 25.0 * 3_600

  /// Whether it has ended. An instant has ended at itself.
  func isOver(at moment: Date) -> Bool { end <= moment }

  /// Whether two spans share an instant. An instant shares itself.
  func overlaps(_ other: EventSpan) -> Bool {
    if start == other.start { return true }
    return start < other.end && other.start < end
  }
}

/// The precision of an event's time. Raw values are stored in the log.
enum EventGrain: String, CaseIterable {
  /// To the minute.
  case instant
  /// To a part of a day, such as a morning.
  case partOfDay = "part_of_day"
  case day
  /// To several days, such as a week.
  case period
}

extension EventSpan {
  /// In words relative to the user's day, such as `tomorrow morning`.
  ///
  /// They name days and parts of days, never hours: a push is read some time after it was written, when "in two hours" is
  /// wrong and "this afternoon" is still right. The span is not over at the moment, and begins at most a day after it.
  func words(at moment: Date, in localTime: LocalTime) -> String {
    let start = max(start, moment)
    let (day, today) = (localTime.day(of: start), localTime.day(of: moment))
    switch grain {
    case .period: return self.start <= moment ? "these days" : "in the coming days"
    case .day: return day <= today ? "today" : "tomorrow"
    case .instant, .partOfDay: break
    }
    let hour = localTime.hour(of: start)
    // The hours before five belong to the night of the day before: at noon, one o'clock at night is "tonight".
    let isToday = day - (hour < 5 ? 1 : 0) <= today
    switch hour {
    case 5..<12: return isToday ? "this morning" : "tomorrow morning"
    case 12..<18: return isToday ? "this afternoon" : "tomorrow afternoon"
    default: return isToday ? "tonight" : "tomorrow evening"
    }
  }
}
