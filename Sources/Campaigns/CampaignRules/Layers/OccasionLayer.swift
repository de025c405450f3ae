/// The layer for what needs no reason of the user's: a daily ritual, a reminder. Whoever is in the audience is meant.
public struct OccasionLayer: Equatable, Sendable {
  /// What it is about; nil finds nothing.
  public var occasion: String?

  /// A layer.
  public init(occasion: String? = nil) {
    self.occasion = occasion
  }

  /// Always a finding, where there is an occasion.
  public func outcome(for material: CampaignMaterial) -> LayerOutcome {
    guard let occasion else { return .miss(LayerNote(layer: .occasion, rule: .noOccasion)) }
    return .hit(
      LayerFinding(
        layer: .occasion, domain: material.lastConversation?.domain, subject: .occasion(name: occasion)))
  }
}
