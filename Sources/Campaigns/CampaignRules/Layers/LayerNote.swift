/// Why one layer found nothing, in a rule's name and numbers.
///
/// It is stored to explain a run, so nothing in it can hold personal data: there is no room for a text.
public struct LayerNote: Equatable, Sendable {
  /// The layer that was looked at.
  public let layer: CampaignLayer
  /// Why it found nothing.
  public let rule: LayerRule
  /// The numbers the rule went by, all finite; empty where there are none.
  public let figures: [LayerFigure: Double]

  /// A note.
  public init(layer: CampaignLayer, rule: LayerRule, figures: [LayerFigure: Double] = [:]) {
    self.layer = layer
    self.rule = rule
    self.figures = figures.filter(\.value.isFinite)
  }
}

extension LayerNote: Encodable {
  /// Writes one flat object: `{"layer": "event", "rule": "event_too_far", "ahead_seconds": 90000, …}`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(layer.rawValue, forKey: Key("layer"))
    try container.encode(rule.rawValue, forKey: Key("rule"))
    for (figure, value) in figures {
      try container.encode(value, forKey: Key(figure.rawValue))
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
