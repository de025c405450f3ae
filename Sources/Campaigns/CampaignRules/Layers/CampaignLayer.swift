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
