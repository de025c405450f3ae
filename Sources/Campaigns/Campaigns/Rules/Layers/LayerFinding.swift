package import TemporalReferences

/// A reason to write to a user.
package struct LayerFinding: Equatable, Sendable {
  package let layer: CampaignLayer
  /// The domain, on one line of at most 40 characters; nil when unknown.
  package let domain: String?
  package let subject: FindingSubject

  init(layer: CampaignLayer, domain: String?, subject: FindingSubject) {
    self.layer = layer
    self.domain = domain.flatMap(TextLimits.domain)
    self.subject = subject
  }

  package var pushType: CampaignPushType { layer.pushType }

  /// The part of it that may be logged.
  package var metadata: FindingMetadata {
    var metadata = FindingMetadata(layer: layer, domains: domain.map { [$0] } ?? [])
    switch subject {
    case .event(let word, _, let grain, let confidence, let doubts):
      metadata.event = TextLimits.event(word)
      metadata.grain = grain
      metadata.confidence = confidence
      metadata.doubts = doubts.isEmpty ? nil : doubts
    case .pattern(let pattern):
      metadata.themes = [pattern.theme].compactMap(TextLimits.theme)
      metadata.domains = pattern.domains.prefix(TextLimits.domainsMax).compactMap(TextLimits.domain)
      metadata.confidence = pattern.confidence
    case .occasion(let name): metadata.themes = [name].compactMap(TextLimits.theme)
    case .conversation, .absence: break
    }
    return metadata
  }

  package var facts: SlotValues { if case .absence(let facts) = subject { facts } else { SlotValues() } }

  /// The values for templates: `event` and `when`, or `theme`, and `domain` if known. Topic and synthesis are excluded,
  /// because a template would repeat them word for word.
  package var templateValues: [String: String] {
    var values: [String: String] = [:]
    values["domain"] = domain
    switch subject {
    case .event(let word, let when, _, _, _):
      values["event"] = TextLimits.event(word)
      values["when"] = when
    case .pattern(let pattern): values["theme"] = TextLimits.theme(pattern.theme)
    case .occasion(let name): values["theme"] = TextLimits.theme(name)
    case .absence(let facts): values = facts.lines
    case .conversation: break
    }
    return values
  }
}

/// The subject of a check-in. It may contain the user's own words, so it goes into the prompt and never into the log.
package enum FindingSubject: Equatable, Sendable {
  /// An upcoming event: its canonical word, its time in words relative to the user's day, the precision, the
  /// confidence, and what speaks against the reading.
  case event(word: String, when: String, grain: EventGrain, confidence: Double, doubts: [ReadingDoubt] = [])
  case pattern(RecognizedPattern)
  /// The last conversation, by a phrase from its last messages. These are the user's words.
  case conversation(topic: String)
  case occasion(name: String)
  case absence(SlotValues)
}

/// The logged data of a check-in: names and numbers, no sentence of a user. As JSON, nil members are left out.
package struct FindingMetadata: Encodable, Equatable, Sendable {
  package var layer: CampaignLayer
  /// Names of themes, each on one line of at most 80 characters; empty except for a pattern and an occasion.
  package var themes: [String] = []
  /// At most 8 domains, each on one line of at most 40 characters.
  package var domains: [String]
  /// The canonical word of the event; nil except for an event.
  package var event: String?
  /// The precision of the event's time; nil except for an event.
  package var grain: EventGrain?
  /// The confidence of the reading or the pattern, in 0...1; nil for other subjects.
  package var confidence: Double?
  /// What speaks against the reading of the event; nil when nothing does, and for other subjects.
  package var doubts: [ReadingDoubt]?

  init(layer: CampaignLayer, domains: [String]) {
    self.layer = layer
    self.domains = domains
  }
}
