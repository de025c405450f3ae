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
