package import TemporalReferences

/// One way to find a reason to write. Raw values are part of the interface: definitions and the log contain them.
package enum CampaignLayer: String, CaseIterable, Encodable, Sendable {
  /// An upcoming event that the user mentioned.
  case event
  case pattern
  /// The user has been inactive, and there is a conversation to resume.
  case reengagement = "re_engagement"
  /// The campaign's own subject, such as a daily ritual.
  case occasion
  /// The user has stopped coming, as the campaign's audience says.
  case lapse

  /// The layers that look at the user, in their usual order.
  package static let ofUser: [CampaignLayer] = [.event, .pattern, .reengagement]

  package var pushType: CampaignPushType {
    switch self {
    case .event: .eventBased
    case .pattern: .patternBased
    case .reengagement: .reengagement
    case .occasion: .occasion
    case .lapse: .absence
    }
  }
}

/// The type of a check-in. Raw values are those of the log's `push_type`.
package enum CampaignPushType: String, CaseIterable, Sendable {
  case eventBased = "event_based"
  case patternBased = "pattern_based"
  /// After some inactive days.
  case reengagement = "re_engagement"
  case occasion
  /// After an absence, as the user wants to be treated.
  case absence = "reengagement"
}

/// Why one layer found nothing: a rule and numbers.
///
/// It is stored to explain a run. It has no text, so it cannot hold personal data.
package struct LayerNote: Equatable, Sendable {
  package let layer: CampaignLayer
  package let rule: LayerRule
  /// The rule's numbers, all finite; may be empty.
  package let figures: [LayerFigure: Double]
  /// What lowered the confidence of an event below the least sufficient one.
  package let doubts: [ReadingDoubt]

  package init(
    layer: CampaignLayer, rule: LayerRule, figures: [LayerFigure: Double] = [:], doubts: [ReadingDoubt] = []
  ) {
    self.layer = layer
    self.rule = rule
    self.figures = figures.filter(\.value.isFinite)
    self.doubts = doubts
  }
}

extension LayerNote: Encodable {
  /// Writes one flat object: `{"layer": "event", "rule": "event_too_far", "ahead_seconds": 90000, …}`.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(layer.rawValue, forKey: Key("layer"))
    try container.encode(rule.rawValue, forKey: Key("rule"))
    for (figure, value) in figures {
      try container.encode(value, forKey: Key(figure.rawValue))
    }
    if !doubts.isEmpty { try container.encode(doubts.map(\.rawValue), forKey: Key("doubts")) }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// Why a layer found nothing. Raw values are part of the interface: they are stored to explain a run, and they are
/// metric labels.
package enum LayerRule: String, CaseIterable, Sendable {
  /// The user's messages could not be read, so inactivity is unknown too.
  case messageSourceMissing = "message_source_missing"
  case patternSourceMissing = "pattern_source_missing"
  case conversationSourceMissing = "conversation_source_missing"
  /// No recent message names an event with a time.
  case noUpcomingEvent = "no_upcoming_event"
  case eventTooFar = "event_too_far"
  case eventConfidenceLow = "event_confidence_low"
  /// The newest message about the event cancelled it.
  case eventCancelled = "event_cancelled"
  case eventOver = "event_over"
  /// The user never wrote, so the user cannot be inactive.
  case neverActive = "never_active"
  case recentlyActive = "recently_active"
  /// There is no pattern with a name.
  case noValidPattern = "no_valid_pattern"
  /// Every pattern is too many sessions old.
  case patternExpired = "pattern_expired"
  case patternConfidenceLow = "pattern_confidence_low"
  case noConversation = "no_conversation"
  /// The last conversation has no visible words.
  case noTopic = "no_topic"
  case noOccasion = "no_occasion"
}

/// The meaning of a number in a layer's note. Raw values are keys in the database.
package enum LayerFigure: String, CaseIterable, Sendable {
  /// The number of events or patterns considered.
  case count
  /// The greatest confidence among them, in 0...1.
  case confidence
  /// The least sufficient confidence, in 0...1.
  case confidenceNeeded = "confidence_needed"
  /// Seconds until the nearest event begins.
  case aheadSeconds = "ahead_seconds"
  case aheadSecondsMax = "ahead_seconds_max"
  case inactiveSeconds = "inactive_seconds"
  case inactiveSecondsNeeded = "inactive_seconds_needed"
  /// The fewest sessions since one of the patterns.
  case sessions
  /// The number of sessions after which a pattern expires.
  case sessionsEnd = "sessions_end"
}
