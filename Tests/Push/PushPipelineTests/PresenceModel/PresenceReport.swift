/// What came of a run of the model.
struct PresenceReport: Sendable {
  var tally = PresenceTally()
  /// Of some timelines in which a property did not hold, the gravest first.
  private(set) var stories: [PresenceStory] = []
  /// Errors that the triggers have swallowed.
  var troubles: [String] = []

  init() {}

  init(_ timelines: [PresenceTimeline], at times: [Int64], troubles: [String]) {
    tally.timelines = timelines.count
    for timeline in timelines {
      tally += timeline.oracle.tally
      guard let gravest = timeline.oracle.violations.map(\.property).min() else { continue }
      stories.append(PresenceStory(property: gravest, plan: timeline.plan, times: times, text: timeline.story))
    }
    stories = Self.gravest(of: stories)
    self.troubles = troubles
  }

  static func += (sum: inout PresenceReport, other: PresenceReport) {
    sum.tally += other.tally
    sum.stories = gravest(of: sum.stories + other.stories)
    sum.troubles = Array((sum.troubles + other.troubles).prefix(5))
  }

  /// Enough to read at once.
  private static func gravest(of stories: [PresenceStory]) -> [PresenceStory] {
    Array(stories.sorted { ($0.property, $0.plan.actions.count) < ($1.property, $1.plan.actions.count) }.prefix(3))
  }
}

/// A timeline in which a property did not hold: its plan, and all that happened.
struct PresenceStory: Sendable {
  let property: Int
  let plan: TimelinePlan
  /// Of the steps, in virtual microseconds.
  let times: [Int64]
  let text: String
}
