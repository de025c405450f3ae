// Layers that find a reason for every user of the audience.
extension CampaignLayer {
  /// The campaign's own subject, such as a daily ritual.
  static let occasion: CampaignLayer = .init(name: "occasion", pushType: "occasion", rules: [.noOccasion]) { material in
    guard let subject = material.subject else { return .miss(.noOccasion) }
    return .hit(LayerFinding(.occasion, domain: material.lastConversation?.domain, found: ["theme": subject]))
  }

  /// The user has stopped coming, as the campaign's audience says.
  static let lapse: CampaignLayer = .init(name: "lapse", pushType: "reengagement") { _ in .hit(LayerFinding(.lapse)) }
}

extension LayerRule {
  static let noOccasion = LayerRule("no_occasion", "the campaign names nothing that it is about")
}
