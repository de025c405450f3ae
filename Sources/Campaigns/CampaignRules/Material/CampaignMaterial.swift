public import FoundationEssentials

/// What the database gives about one user for one look at a campaign.
///
/// Every part is as of ``moment``, the database's own now, so that no two machines' clocks are ever compared.
public struct CampaignMaterial: Equatable, Sendable {
  /// The database's now.
  public var moment: Date
  /// What the user's clock shows around the moment.
  public var localTime: LocalTime
  /// Since the user's last own message; nil when the user never wrote.
  public var inactiveFor: Duration?
  /// The user's own messages of the last seven days, newest first.
  public var messages: [WrittenMessage]
  /// What those messages say about events; found by another module, empty until it has looked.
  public var happenings: [Happening]
  /// The user's patterns, in any order.
  public var patterns: [RecognizedPattern]
  /// The conversation the user took part in last; nil when there is none.
  public var lastConversation: LastConversation?
  /// What the host knows of the user, in prose; nil when it has none.
  public var contextSummary: String?
  /// How the user wants to be spoken to.
  public var styles: CoachingPreferences
  /// What could not be had. A layer that needs it is passed over with a note; the run goes on.
  public var missingSources: Set<MaterialSource>

  /// Material; the defaults are those of a user of whom nothing is known.
  public init(
    moment: Date,
    localTime: LocalTime = .utc,
    inactiveFor: Duration? = nil,
    messages: [WrittenMessage] = [],
    happenings: [Happening] = [],
    patterns: [RecognizedPattern] = [],
    lastConversation: LastConversation? = nil,
    contextSummary: String? = nil,
    styles: CoachingPreferences = CoachingPreferences(),
    missingSources: Set<MaterialSource> = []
  ) {
    self.moment = moment
    self.localTime = localTime
    self.inactiveFor = inactiveFor
    self.messages = messages
    self.happenings = happenings
    self.patterns = patterns
    self.lastConversation = lastConversation
    self.contextSummary = contextSummary
    self.styles = styles
    self.missingSources = missingSources
  }

  /// Every text that a check-in must not quote: the user's messages, and those of the last conversation.
  public var quotableTexts: [String] {
    messages.map(\.text) + (lastConversation?.texts ?? [])
  }
}
