internal import FoundationEssentials
internal import TemporalReferences

/// The database's data about one user for one evaluation of a campaign.
///
/// Everything is as of ``moment``, the database's current time, so that clocks of two machines are never compared.
struct CampaignMaterial {
  var moment: Date
  var localTime = LocalTime()
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
  /// What the campaign itself is about, such as `evening reflection`; nil without.
  var subject: String?
  /// Sources that could not be read. A layer that needs one is skipped with a note.
  var missingSources: Set<MaterialSource> = []

  /// The texts that a push must not quote: the user's messages, and those of the last conversation.
  var quotableTexts: [String] { messages.map(\.text) + (lastConversation?.texts ?? []) }

  /// The values for texts: the material's members, with those of the finding over them.
  func values(for finding: LayerFinding) -> [String: String] { facts.lines.merging(finding.values) { $1 } }
}

/// The source of a part of the material that a layer needs. A host may lack some of them.
enum MaterialSource: String, CaseIterable {
  /// The user's messages. They give the events and the inactivity.
  case messages
  case patterns
  case conversations
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
  /// The host's confidence, in 0...1.
  let confidence: Double
  /// The host's prose about it; part of the prompt, never logged.
  let synthesis: String
  /// The user's sessions since the pattern was recognised, from 0.
  let sessionsSince: Int
}

struct LastConversation: Equatable {
  /// The host's name of its domain, such as `work`; nil or blank when unknown.
  let domain: String?
  /// The texts of its last messages, newest first.
  let texts: [String]
}

/// Days and hours of the user's clock.
struct LocalTime {
  /// Nil for UTC: the zone is unknown.
  var zone: ZoneRules?

  /// The civil day of an instant: days since 1970-01-01, negative before.
  func day(of instant: Date) -> Int { seconds(of: instant).quotient(86_400) }

  /// The local hour of an instant, in 0...23.
  func hour(of instant: Date) -> Int { seconds(of: instant).modulo(86_400) / 3_600 }

  private func seconds(of instant: Date) -> Int {
    let second = Int64(instant.timeIntervalSince1970.rounded(.down))
    return Int(second) + (zone?.offset(at: second) ?? 0)
  }
}
