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
