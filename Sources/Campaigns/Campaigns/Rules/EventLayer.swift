internal import FoundationEssentials
internal import TemporalReferences

struct EventLayer: Equatable {
  /// The greatest age of a message that counts; inclusive. Default 7 days.
  var messageAgeMax = Duration.seconds(604_800)
  /// The longest time until an event begins; inclusive. An event that ends at the moment is excluded. Default 24 hours.
  var horizon = Duration.seconds(86_400)
  /// The least confidence of a reading; inclusive. Default 0.7.
  var confidenceMin = 0.7

  /// The best event within the horizon: the soonest, then the one with the highest confidence, then the latest message.
  ///
  /// An event that is going on begins at the moment. A message written after the moment, during the run, counts too: it
  /// may cancel an event.
  func outcome(for material: CampaignMaterial) -> LayerOutcome {
    if material.missingSources.contains(.messages) { return miss(.messageSourceMissing) }
    let moment = material.moment
    let recent = material.happenings.filter {
      moment.timeIntervalSince($0.writtenAt) <= messageAgeMax.inSeconds
    }
    let standing = StandingStatements(of: recent)
    let near = standing.upcoming.filter {
      $0.span.reaches(after: moment, until: moment.addingTimeInterval(horizon.inSeconds))
    }
    let sure = near.filter { $0.happening.confidence >= confidenceMin }
    guard let best = sure.min(by: { isBetter($0, than: $1, at: moment) }) else {
      if !near.isEmpty { return missUnsure(of: near.map(\.happening)) }
      let doubtful = recent.filter { $0.isDoubtful && $0.span?.isOver(at: moment) == false }
      return missWithoutNear(standing, doubtful: doubtful, at: moment)
    }
    return .hit(finding(of: best.happening, at: best.span, in: material))
  }

  private typealias Candidate = (happening: Happening, span: EventSpan)

  private func isBetter(_ one: Candidate, than other: Candidate, at moment: Date) -> Bool {
    let starts = (max(one.span.start, moment), max(other.span.start, moment))
    if starts.0 != starts.1 { return starts.0 < starts.1 }
    if one.happening.confidence != other.happening.confidence {
      return one.happening.confidence > other.happening.confidence
    }
    if one.happening.writtenAt != other.happening.writtenAt {
      return one.happening.writtenAt > other.happening.writtenAt
    }
    // This only makes the result deterministic.
    return (one.happening.event, one.span.end) < (other.happening.event, other.span.end)
  }

  private func finding(of happening: Happening, at span: EventSpan, in material: CampaignMaterial) -> LayerFinding {
    let wording = EventWording(of: span, at: material.moment, in: material.localTime)
    return LayerFinding(
      .event, domain: material.lastConversation?.domain,
      values: ["event": TextLimits.event(happening.event), "when": wording.words]
    ) { metadata in
      metadata.grain = span.grain
      metadata.confidence = happening.confidence
      metadata.doubts = happening.doubts.isEmpty ? nil : happening.doubts.sorted()
    }
  }

  private func miss(_ rule: LayerRule, _ figures: [LayerFigure: Double] = [:]) -> LayerOutcome {
    .miss(LayerNote(layer: .event, rule: rule, figures: figures))
  }

  /// With what speaks against the surest event.
  private func missUnsure(of near: [Happening]) -> LayerOutcome {
    let surest = near.max { $0.confidence < $1.confidence }
    let figures: [LayerFigure: Double] = [
      .count: Double(near.count), .confidence: surest?.confidence ?? 0, .confidenceNeeded: confidenceMin,
    ]
    let doubts = surest?.doubts.filter { $0.confidenceMax < confidenceMin }.sorted() ?? []
    return .miss(LayerNote(layer: .event, rule: .eventConfidenceLow, figures: figures, doubts: doubts))
  }

  /// Why no event is near. A cancelled event explains more than a far one, and a far one more than one that is over.
  private func missWithoutNear(
    _ standing: StandingStatements, doubtful: [Happening], at moment: Date
  ) -> LayerOutcome {
    let later = standing.upcoming.filter { !$0.span.isOver(at: moment) }
    let overCount = standing.overCount + standing.upcoming.count - later.count
    if standing.cancelledCount > 0 { return miss(.eventCancelled, [.count: Double(standing.cancelledCount)]) }
    if let nearest = later.map(\.span.start).min() {
      let ahead = nearest.timeIntervalSince(moment)
      return miss(
        .eventTooFar, [.count: Double(later.count), .aheadSeconds: ahead, .aheadSecondsMax: horizon.inSeconds])
    }
    if overCount > 0 { return miss(.eventOver, [.count: Double(overCount)]) }
    return doubtful.isEmpty ? miss(.noUpcomingEvent) : missUnsure(of: doubtful)
  }
}

/// The statements about events that still hold: for each event those of the newest message about it.
///
/// The newest message always replaces older ones, at any confidence. This loses the first of two presentations when a
/// later message mentions the second. A question about a cancelled event would be worse.
private struct StandingStatements {
  private(set) var upcoming: [(happening: Happening, span: EventSpan)] = []
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
  /// The confidence of the reading, in 0...1; 0 for NaN.
  let confidence: Double
  var writtenAt: Date
  var standing: TemporalStanding
  var doubts: Set<ReadingDoubt>

  init(
    event: String, span: EventSpan?, confidence: Double, writtenAt: Date, standing: TemporalStanding = .upcoming,
    doubts: Set<ReadingDoubt> = []
  ) {
    self.event = event
    self.span = span
    self.confidence = confidence.asProportion
    self.writtenAt = writtenAt
    self.standing = standing
    self.doubts = doubts
  }

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

  func reaches(after moment: Date, until horizon: Date) -> Bool { end > moment && start <= horizon }

  /// Whether two spans share an instant. An instant shares itself.
  func overlaps(_ other: EventSpan) -> Bool {
    if start == other.start { return true }
    return start < other.end && other.start < end
  }
}

/// The precision of an event's time. Raw values are stored in the log.
enum EventGrain: String, CaseIterable, Encodable {
  /// To the minute.
  case instant
  /// To a part of a day, such as a morning.
  case partOfDay = "part_of_day"
  case day
  /// To several days, such as a week.
  case period
}

/// The time of an event in words relative to the user's day.
///
/// It names days and parts of days, never hours: a push is read some time after it was written, when "in two hours" is
/// wrong and "this afternoon" is still right.
struct EventWording {
  /// Words for the push, such as `tomorrow morning`.
  let words: String

  /// - Parameter span: not over at the moment, with a start at most a day after it.
  init(of span: EventSpan, at moment: Date, in localTime: LocalTime) {
    let start = max(span.start, moment)
    switch span.grain {
    case .period: words = span.start <= moment ? "these days" : "in the coming days"
    case .day: words = localTime.day(of: start) <= localTime.day(of: moment) ? "today" : "tomorrow"
    case .instant, .partOfDay: words = Self.partOfDay(of: start, at: moment, in: localTime)
    }
  }

  /// The hours before five belong to the night of the day before: at noon, one o'clock at night is "tonight".
  private static func partOfDay(of start: Date, at moment: Date, in localTime: LocalTime) -> String {
    let hour = localTime.hour(of: start)
    let daysAhead = localTime.day(of: start) - (hour < 5 ? 1 : 0) - localTime.day(of: moment)
    let isToday = daysAhead <= 0
    switch hour {
    case 5..<12: return isToday ? "this morning" : "tomorrow morning"
    case 12..<18: return isToday ? "this afternoon" : "tomorrow afternoon"
    default: return isToday ? "tonight" : "tomorrow evening"
    }
  }
}
