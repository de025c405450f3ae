internal import FoundationEssentials

/// The database's data about one user for one evaluation of a campaign.
///
/// Everything is as of ``moment``, the database's current time, so that clocks of two machines are never compared.
struct CampaignMaterial: Equatable {
  var moment: Date
  var localTime = LocalTime.utc
  /// Since the user's last message; nil when the user never wrote.
  var inactiveFor: Duration?
  /// The user's messages of the last seven days, newest first.
  var messages: [WrittenMessage] = []
  /// The events in those messages. Another module finds them; empty until then.
  var happenings: [Happening] = []
  var patterns: [RecognizedPattern] = []
  var lastConversation: LastConversation?
  /// The host's prose about the user; nil when it has none.
  var contextSummary: String?
  var styles = CoachingPreferences()
  /// The material's members as values.
  var facts = CampaignValues()
  /// Sources that could not be read. A layer that needs one is skipped with a note, and the run continues.
  var missingSources: Set<MaterialSource> = []

  /// The texts that a check-in must not quote: the user's messages, and those of the last conversation.
  var quotableTexts: [String] {
    messages.map(\.text) + (lastConversation?.texts ?? [])
  }

  /// The values for texts: the material's members, with those of the finding over them.
  func values(for finding: LayerFinding) -> [String: String] { facts.lines.merging(finding.values) { $1 } }
}

/// The source of a part of the material. A host may lack some of them.
enum MaterialSource: String, CaseIterable {
  /// The user's messages. They give the events and the inactivity.
  case messages
  case patterns
  case conversations
  /// The profile with the context summary and the coaching preferences. No layer needs it: without it the style is
  /// balanced.
  case profile
}

struct WrittenMessage: Equatable {
  /// The user's own words, of any length. They leave the material only as fenced data of a prompt.
  let text: String
  let writtenAt: Date
}

/// A pattern that the host has recognised in a user's conversations.
struct RecognizedPattern: Equatable {
  /// Its name, such as `fear of speaking`. Only the name and the domains may be logged.
  let theme: String
  let occurrences: Int
  /// The host's names of its domains, most important first; may be empty.
  let domains: [String]
  /// The host's confidence, in 0...1; 0 for NaN.
  let confidence: Double
  /// The host's prose about it; part of the prompt, never logged.
  let synthesis: String
  /// The user's sessions since the pattern was recognised, from 0.
  let sessionsSince: Int

  init(
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
  /// The value clamped to 0...1; 0 for NaN.
  var asProportion: Double {
    isNaN ? 0 : Swift.min(1, Swift.max(0, self))
  }
}

struct LastConversation: Equatable, Decodable {
  /// The host's name of its domain, such as `work`; nil or blank when unknown.
  let domain: String?
  /// The texts of its last messages, newest first.
  let texts: [String]
}

/// The user's local time around the moment of a run, without a time zone database.
///
/// The current offset and its next change suffice: layers look at most a day ahead, and no zone changes its offset
/// twice within a day.
struct LocalTime: Equatable {
  /// A change of the offset, such as the beginning of daylight saving time.
  struct Change: Equatable {
    /// The first instant of the new offset.
    let instant: Date
    /// The new offset, east of UTC, in seconds.
    let secondsFromUTC: Int
  }

  /// For users whose zone is unknown.
  static let utc = LocalTime(secondsFromUTC: 0)

  /// The offset at the moment of the run, east of UTC, in seconds.
  var secondsFromUTC: Int
  /// The first change after the moment; nil without one in the next two days.
  var change: Change?

  /// The civil day of an instant: days since 1970-01-01, negative before.
  func day(of instant: Date) -> Int {
    Int((localSeconds(of: instant) / 86_400).rounded(.down))
  }

  /// The local hour of an instant, in 0...23.
  func hour(of instant: Date) -> Int {
    let seconds = localSeconds(of: instant) - Double(day(of: instant)) * 86_400
    return min(23, Int(seconds / 3_600))
  }

  private func localSeconds(of instant: Date) -> Double {
    let offset = change.map { instant >= $0.instant ? $0.secondsFromUTC : secondsFromUTC } ?? secondsFromUTC
    return instant.timeIntervalSince1970 + Double(offset)
  }
}
