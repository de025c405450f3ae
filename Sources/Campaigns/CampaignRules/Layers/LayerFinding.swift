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
