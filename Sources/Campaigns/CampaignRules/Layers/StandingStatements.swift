import FoundationEssentials

/// What still holds of everything a user said about events: of each event only what the newest message about it says.
///
/// The newest message replaces the older ones whatever it says and however sure its reading is. That loses the first of
/// two presentations when the second is spoken of later; asking about one that was called off would be worse.
struct StandingStatements {
  /// Events still to come, each with its time.
  private(set) var upcoming: [(happening: Happening, span: EventSpan)] = []
  /// How many events were called off.
  private(set) var cancelledCount = 0
  /// How many events were said to have taken place.
  private(set) var overCount = 0

  /// - Parameter happenings: in any order; those of one message have the same time of writing.
  init(of happenings: [Happening]) {
    let telling = happenings.filter { $0.span != nil || $0.standing != .upcoming }
    for statements in Dictionary(grouping: telling, by: \.event).values {
      guard let newest = statements.map(\.writtenAt).max() else { continue }
      add(statements.filter { $0.writtenAt == newest })
    }
  }

  /// Adds what one message says about one event. Within it an end takes back what is upcoming at the same time, or
  /// everything when it names no time: "not on Monday, it is on Thursday" leaves the Thursday.
  private mutating func add(_ statements: [Happening]) {
    let ends = statements.filter { $0.standing != .upcoming }
    cancelledCount += ends.contains { $0.standing == .cancelled } ? 1 : 0
    overCount += ends.contains { $0.standing == .over } ? 1 : 0
    for statement in statements where statement.standing == .upcoming {
      guard let span = statement.span, !ends.contains(where: { $0.span?.overlaps(span) ?? true }) else { continue }
      upcoming.append((statement, span))
    }
  }
}
