/// One way of finding a reason to write. Raw values are part of the interface: campaigns name their layers with them, and
/// the log holds them.
public enum CampaignLayer: String, CaseIterable, Sendable {
  /// Something the user said is coming up.
  case event
  /// Something that returns in the user's conversations.
  case pattern
  /// The user has been away, and there is a conversation to come back to.
  case reengagement = "re_engagement"
  /// What the campaign itself is about, such as a daily ritual.
  case occasion

  /// Those that look at the user, in the order of a coach who remembers.
  public static let ofUser: [CampaignLayer] = [.event, .pattern, .reengagement]

  /// The type of the pushes this layer gives.
  public var pushType: CampaignPushType {
    switch self {
    case .event: .eventBased
    case .pattern: .patternBased
    case .reengagement: .reengagement
    case .occasion: .occasion
    }
  }
}

/// What kind of check-in a push is. Raw values are those of the log's `push_type`.
public enum CampaignPushType: String, CaseIterable, Sendable {
  /// About something coming up.
  case eventBased = "event_based"
  /// About a recognised pattern.
  case patternBased = "pattern_based"
  /// After some days away.
  case reengagement = "re_engagement"
  /// About what the campaign itself is about.
  case occasion
}

/// Why one layer found nothing, in a rule's name and numbers.
///
/// It is stored to explain a run, so nothing in it can hold personal data: there is no room for a text.
public struct LayerNote: Equatable, Sendable {
  /// The layer that was looked at.
  public let layer: CampaignLayer
  /// Why it found nothing.
  public let rule: LayerRule
  /// The numbers the rule went by, all finite; empty where there are none.
  public let figures: [LayerFigure: Double]

  /// A note.
  public init(layer: CampaignLayer, rule: LayerRule, figures: [LayerFigure: Double] = [:]) {
    self.layer = layer
    self.rule = rule
    self.figures = figures.filter(\.value.isFinite)
  }
}

extension LayerNote: Encodable {
  /// Writes one flat object: `{"layer": "event", "rule": "event_too_far", "ahead_seconds": 90000, …}`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(layer.rawValue, forKey: Key("layer"))
    try container.encode(rule.rawValue, forKey: Key("rule"))
    for (figure, value) in figures {
      try container.encode(value, forKey: Key(figure.rawValue))
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// Why a layer found nothing. Raw values are part of the interface: they are stored to explain a run, and are metric
/// labels.
public enum LayerRule: String, CaseIterable, Sendable {
  /// The user's messages could not be read, and with them how long the user has been away.
  case messageSourceMissing = "message_source_missing"
  /// The patterns could not be read.
  case patternSourceMissing = "pattern_source_missing"
  /// The conversations could not be read.
  case conversationSourceMissing = "conversation_source_missing"
  /// No recent message names an event with a time.
  case noUpcomingEvent = "no_upcoming_event"
  /// The nearest event lies beyond the horizon.
  case eventTooFar = "event_too_far"
  /// An event is near, but the reading of it is not sure enough.
  case eventConfidenceLow = "event_confidence_low"
  /// The newest message about the event called it off.
  case eventCancelled = "event_cancelled"
  /// The events that were named are over.
  case eventOver = "event_over"
  /// The user never wrote, so there is no being away.
  case neverActive = "never_active"
  /// The user was active too lately.
  case recentlyActive = "recently_active"
  /// There is no pattern with a name.
  case noValidPattern = "no_valid_pattern"
  /// Every pattern is too many sessions old.
  case patternExpired = "pattern_expired"
  /// No pattern that is still valid is sure enough.
  case patternConfidenceLow = "pattern_confidence_low"
  /// There is no conversation to come back to.
  case noConversation = "no_conversation"
  /// The last conversation has no words to take up.
  case noTopic = "no_topic"
  /// The campaign names nothing that it is about.
  case noOccasion = "no_occasion"
}

/// What a number in a layer's note measures. Raw values are its key in the database.
public enum LayerFigure: String, CaseIterable, Sendable {
  /// How many events or patterns were looked at.
  case count
  /// The greatest confidence among them, in 0...1.
  case confidence
  /// The least confidence that is enough, in 0...1.
  case confidenceNeeded = "confidence_needed"
  /// Seconds until the nearest event begins.
  case aheadSeconds = "ahead_seconds"
  /// The furthest that an event may lie ahead, in seconds.
  case aheadSecondsMax = "ahead_seconds_max"
  /// Seconds since the user was last active.
  case inactiveSeconds = "inactive_seconds"
  /// How long the user has to be away, in seconds.
  case inactiveSecondsNeeded = "inactive_seconds_needed"
  /// The fewest sessions since one of the patterns.
  case sessions
  /// The number of sessions at which a pattern ends.
  case sessionsEnd = "sessions_end"
}
