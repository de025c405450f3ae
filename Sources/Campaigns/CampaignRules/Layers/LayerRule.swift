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
