/// A reason to write to a user.
public struct LayerFinding: Equatable, Sendable {
  /// The layer that found it.
  public let layer: CampaignLayer
  /// The part of life it belongs to, on one line of at most 40 characters; nil when unknown.
  public let domain: String?
  /// What it is about.
  public let subject: FindingSubject

  init(layer: CampaignLayer, domain: String?, subject: FindingSubject) {
    self.layer = layer
    self.domain = domain.flatMap(TextLimits.domain)
    self.subject = subject
  }

  /// The type of the push.
  public var pushType: CampaignPushType { layer.pushType }

  /// What the log may hold about it.
  public var metadata: FindingMetadata {
    var metadata = FindingMetadata(layer: layer, domains: domain.map { [$0] } ?? [])
    switch subject {
    case .event(let word, _, let grain, let confidence):
      metadata.event = TextLimits.event(word)
      metadata.grain = grain
      metadata.confidence = confidence
    case .pattern(let pattern):
      metadata.themes = [pattern.theme].compactMap(TextLimits.theme)
      metadata.domains = pattern.domains.prefix(TextLimits.domainsMax).compactMap(TextLimits.domain)
      metadata.confidence = pattern.confidence
    case .occasion(let name): metadata.themes = [name].compactMap(TextLimits.theme)
    case .conversation: break
    }
    return metadata
  }

  /// What a template may say of it: `event` and `when`, or `theme`; and `domain` where it is known. The topic and the
  /// synthesis are not among them, as a template would repeat them word for word.
  public var templateValues: [String: String] {
    var values: [String: String] = [:]
    values["domain"] = domain
    switch subject {
    case .event(let word, let when, _, _):
      values["event"] = TextLimits.event(word)
      values["when"] = when
    case .pattern(let pattern): values["theme"] = TextLimits.theme(pattern.theme)
    case .occasion(let name): values["theme"] = TextLimits.theme(name)
    case .conversation: break
    }
    return values
  }
}

/// What a check-in is about. Some of it is the user's own life in words, so it is for the prompt and never for the log.
public enum FindingSubject: Equatable, Sendable {
  /// Something is coming up: the event's canonical word, when it is in words of the user's own day, how precisely that is
  /// known, and how surely.
  case event(word: String, when: String, grain: EventGrain, confidence: Double)
  /// A pattern.
  case pattern(RecognizedPattern)
  /// The last conversation, by a phrase of its last few messages. These are the user's words.
  case conversation(topic: String)
  /// What the campaign itself is about, by its name for it.
  case occasion(name: String)
}

/// What the log holds about a check-in: names and numbers, no sentence that anybody wrote.
public struct FindingMetadata: Equatable, Sendable {
  /// The layer that gave the reason.
  public var layer: CampaignLayer
  /// Names of themes, each on one line of at most 80 characters; empty except for a pattern and an occasion.
  public var themes: [String] = []
  /// Parts of life, at most 8, each on one line of at most 40 characters; may be empty.
  public var domains: [String]
  /// The canonical word of the event; nil except for an event.
  public var event: String?
  /// How precisely the event's time is known; nil except for an event.
  public var grain: EventGrain?
  /// How sure the reading or the pattern is, in 0...1; nil for coming back.
  public var confidence: Double?

  init(layer: CampaignLayer, domains: [String]) {
    self.layer = layer
    self.domains = domains
  }
}

extension FindingMetadata: Encodable {
  /// Writes an object with `layer`, `themes` and `domains`, and with `event`, `grain` and `confidence` where there are any.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(layer.rawValue, forKey: .layer)
    try container.encode(themes, forKey: .themes)
    try container.encode(domains, forKey: .domains)
    try container.encodeIfPresent(event, forKey: .event)
    try container.encodeIfPresent(grain?.rawValue, forKey: .grain)
    try container.encodeIfPresent(confidence, forKey: .confidence)
  }

  private enum Key: String, CodingKey {
    case layer, themes, domains, event, grain, confidence
  }
}
