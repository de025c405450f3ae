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

/// Where a part of the material comes from. A host need not have every one of them.
public enum MaterialSource: String, CaseIterable, Sendable {
  /// The user's messages; they give the events, and also how long the user has been away.
  case messages
  /// The recognised patterns.
  case patterns
  /// The conversations with their domains.
  case conversations
  /// The profile with the context summary and the coaching preferences. No layer needs it: a check-in without it is
  /// written in the balanced style.
  case profile
}

/// One message that the user wrote.
public struct WrittenMessage: Equatable, Sendable {
  /// The user's own words, of any length; they never leave the material except as fenced data of a prompt.
  public var text: String
  /// When it was written, by the database's clock.
  public var writtenAt: Date

  /// A message.
  public init(text: String, writtenAt: Date) {
    self.text = text
    self.writtenAt = writtenAt
  }
}

/// Something that the host has seen to return in a user's conversations.
public struct RecognizedPattern: Equatable, Sendable {
  /// Its name, such as `fear of speaking`; the only part of it that may be logged, beside the domains.
  public var theme: String
  /// How often it was seen.
  public var occurrences: Int
  /// Where it was seen, as the host names the parts of life, the most telling first; may be empty.
  public var domains: [String]
  /// How sure the host is, in 0...1. What is not a number counts as 0.
  public let confidence: Double
  /// What the host made of it, in prose; material of the prompt, never logged.
  public var synthesis: String
  /// Sessions that the user has held since the pattern was recognised, from 0.
  public var sessionsSince: Int

  /// A pattern; a confidence outside 0...1 is moved to the nearer end.
  public init(
    theme: String, occurrences: Int, domains: [String], confidence: Double, synthesis: String, sessionsSince: Int
  ) {
    self.theme = theme
    self.occurrences = occurrences
    self.domains = domains
    self.confidence = confidence.asProportion
    self.synthesis = synthesis
    self.sessionsSince = sessionsSince
  }
}

extension Double {
  /// Itself within 0...1, and 0 for what is not a number: what nobody can weigh weighs nothing.
  var asProportion: Double {
    isNaN ? 0 : Swift.min(1, Swift.max(0, self))
  }
}

/// The conversation the user took part in last.
public struct LastConversation: Equatable, Sendable {
  /// What it was about, as the host names it, such as `work`; nil or blank when the host does not say.
  public var domain: String?
  /// The texts of its last few messages, newest first.
  public var texts: [String]

  /// A conversation.
  public init(domain: String?, texts: [String]) {
    self.domain = domain
    self.texts = texts
  }
}

/// What the user's clock shows around the moment of a run, without a database of time zones.
///
/// The offset of the moment and the next change of it are enough, because layers look no further than a day ahead and
/// no zone changes its offset twice within a day.
public struct LocalTime: Equatable, Sendable {
  /// A change of the offset, such as the beginning of daylight saving time.
  public struct Change: Equatable, Sendable {
    /// The first instant of the new offset.
    public var instant: Date
    /// The new offset, east of UTC, in seconds.
    public var secondsFromUTC: Int

    /// A change.
    public init(at instant: Date, to secondsFromUTC: Int) {
      self.instant = instant
      self.secondsFromUTC = secondsFromUTC
    }
  }

  /// For users whose zone is unknown.
  public static let utc = LocalTime(secondsFromUTC: 0)

  /// The offset at the moment of the run, east of UTC, in seconds.
  public var secondsFromUTC: Int
  /// The first change after the moment; nil when there is none within the next two days.
  public var change: Change?

  /// A local time.
  public init(secondsFromUTC: Int, change: Change? = nil) {
    self.secondsFromUTC = secondsFromUTC
    self.change = change
  }

  /// The civil day of an instant: days since 1970-01-01, negative before.
  public func day(of instant: Date) -> Int {
    Int((localSeconds(of: instant) / 86_400).rounded(.down))
  }

  /// The hour of an instant on the user's clock, in 0...23.
  public func hour(of instant: Date) -> Int {
    let seconds = localSeconds(of: instant) - Double(day(of: instant)) * 86_400
    return min(23, Int(seconds / 3_600))
  }

  private func localSeconds(of instant: Date) -> Double {
    let offset = change.map { instant >= $0.instant ? $0.secondsFromUTC : secondsFromUTC } ?? secondsFromUTC
    return instant.timeIntervalSince1970 + Double(offset)
  }
}
