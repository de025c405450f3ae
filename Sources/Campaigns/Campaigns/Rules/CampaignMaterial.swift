package import FoundationEssentials

/// The database's data about one user for one evaluation of a campaign.
///
/// Everything is as of ``moment``, the database's current time, so that clocks of two machines are never compared.
package struct CampaignMaterial: Equatable, Sendable {
  /// The database's current time.
  package var moment: Date
  package var localTime = LocalTime.utc
  /// Since the user's last message; nil when the user never wrote.
  package var inactiveFor: Duration?
  /// The user's messages of the last seven days, newest first.
  package var messages: [WrittenMessage] = []
  /// The events in those messages. Another module finds them; empty until then.
  package var happenings: [Happening] = []
  /// The user's patterns, in any order.
  package var patterns: [RecognizedPattern] = []
  package var lastConversation: LastConversation?
  /// The host's prose about the user; nil when it has none.
  package var contextSummary: String?
  package var styles = CoachingPreferences()
  /// The material's members as values.
  package var facts = SlotValues()
  /// Sources that could not be read. A layer that needs one is skipped with a note, and the run continues.
  package var missingSources: Set<MaterialSource> = []

  /// The texts that a check-in must not quote: the user's messages, and those of the last conversation.
  package var quotableTexts: [String] {
    messages.map(\.text) + (lastConversation?.texts ?? [])
  }
}

extension CampaignMaterial {
  /// The material of an unknown user.
  package init(at moment: Date) { self.init(moment: moment) }
}

/// The source of a part of the material. A host may lack some of them.
package enum MaterialSource: String, CaseIterable, Sendable {
  /// The user's messages. They give the events and the inactivity.
  case messages
  case patterns
  case conversations
  /// The profile with the context summary and the coaching preferences. No layer needs it: without it the style is
  /// balanced.
  case profile
}

package struct WrittenMessage: Equatable, Sendable {
  /// The user's own words, of any length. They leave the material only as fenced data of a prompt.
  package var text: String
  /// When it was written, by the database's clock.
  package var writtenAt: Date

  package init(text: String, writtenAt: Date) {
    self.text = text
    self.writtenAt = writtenAt
  }
}

/// A pattern that the host has recognised in a user's conversations.
package struct RecognizedPattern: Equatable, Sendable {
  /// Its name, such as `fear of speaking`. Only the name and the domains may be logged.
  package var theme: String
  package var occurrences: Int
  /// The host's names of its domains, most important first; may be empty.
  package var domains: [String]
  /// The host's confidence, in 0...1; 0 for NaN.
  package let confidence: Double
  /// The host's prose about it; part of the prompt, never logged.
  package var synthesis: String
  /// The user's sessions since the pattern was recognised, from 0.
  package var sessionsSince: Int

  /// A pattern. A confidence outside 0...1 is clamped.
  package init(
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

package struct LastConversation: Equatable, Sendable {
  /// The host's name of its domain, such as `work`; nil or blank when unknown.
  package var domain: String?
  /// The texts of its last messages, newest first.
  package var texts: [String]

  package init(domain: String?, texts: [String]) {
    self.domain = domain
    self.texts = texts
  }
}

/// The user's local time around the moment of a run, without a time zone database.
///
/// The current offset and its next change suffice: layers look at most a day ahead, and no zone changes its offset
/// twice within a day.
package struct LocalTime: Equatable, Sendable {
  /// A change of the offset, such as the beginning of daylight saving time.
  package struct Change: Equatable, Sendable {
    /// The first instant of the new offset.
    package var instant: Date
    /// The new offset, east of UTC, in seconds.
    package var secondsFromUTC: Int

    package init(at instant: Date, to secondsFromUTC: Int) {
      self.instant = instant
      self.secondsFromUTC = secondsFromUTC
    }
  }

  /// For users whose zone is unknown.
  package static let utc = LocalTime(secondsFromUTC: 0)

  /// The offset at the moment of the run, east of UTC, in seconds.
  package var secondsFromUTC: Int
  /// The first change after the moment; nil without one in the next two days.
  package var change: Change?

  package init(secondsFromUTC: Int, change: Change? = nil) {
    self.secondsFromUTC = secondsFromUTC
    self.change = change
  }

  /// The civil day of an instant: days since 1970-01-01, negative before.
  package func day(of instant: Date) -> Int {
    Int((localSeconds(of: instant) / 86_400).rounded(.down))
  }

  /// The local hour of an instant, in 0...23.
  package func hour(of instant: Date) -> Int {
    let seconds = localSeconds(of: instant) - Double(day(of: instant)) * 86_400
    return min(23, Int(seconds / 3_600))
  }

  private func localSeconds(of instant: Date) -> Double {
    let offset = change.map { instant >= $0.instant ? $0.secondsFromUTC : secondsFromUTC } ?? secondsFromUTC
    return instant.timeIntervalSince1970 + Double(offset)
  }
}
