/// The limits of all layers.
public struct LayerSettings: Equatable, Sendable {
  /// Those of the events.
  public var event: EventLayer
  /// Those of the patterns.
  public var pattern: PatternLayer
  /// Those of coming back.
  public var reengagement: ReengagementLayer
  /// What the campaign itself is about.
  public var occasion: OccasionLayer

  /// Settings; the defaults are the product's.
  public init(
    event: EventLayer = EventLayer(),
    pattern: PatternLayer = PatternLayer(),
    reengagement: ReengagementLayer = ReengagementLayer(),
    occasion: OccasionLayer = OccasionLayer()
  ) {
    self.event = event
    self.pattern = pattern
    self.reengagement = reengagement
    self.occasion = occasion
  }

  /// What one layer says.
  func outcome(of layer: CampaignLayer, for material: CampaignMaterial) -> LayerOutcome {
    switch layer {
    case .event: event.outcome(for: material)
    case .pattern: pattern.outcome(for: material)
    case .reengagement: reengagement.outcome(for: material)
    case .occasion: occasion.outcome(for: material)
    }
  }
}
