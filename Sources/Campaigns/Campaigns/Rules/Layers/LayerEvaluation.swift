/// The result of a campaign's layers for one user. The first hit wins, and each layer before it notes why it found
/// nothing.
package struct LayerEvaluation: Equatable, Sendable {
  /// The reason to write; nil when no layer found one. Then nothing is sent.
  package let finding: LayerFinding?
  /// A note for each evaluated layer that found nothing, in order.
  package let notes: [LayerNote]

  init(
    of material: CampaignMaterial,
    layers: [CampaignLayer] = CampaignLayer.ofUser,
    settings: LayerSettings = LayerSettings()
  ) {
    var notes: [LayerNote] = []
    for layer in layers {
      switch settings.outcome(of: layer, for: material) {
      case .miss(let note): notes.append(note)
      case .hit(let finding):
        self.finding = finding
        self.notes = notes
        return
      }
    }
    finding = nil
    self.notes = notes
  }
}

enum LayerOutcome: Equatable {
  case hit(LayerFinding)
  case miss(LayerNote)
}

struct LayerSettings: Equatable {
  var event = EventLayer()
  var pattern = PatternLayer()
  var reengagement = ReengagementLayer()
  var occasion = OccasionLayer()

  func outcome(of layer: CampaignLayer, for material: CampaignMaterial) -> LayerOutcome {
    switch layer {
    case .event: event.outcome(for: material)
    case .pattern: pattern.outcome(for: material)
    case .reengagement: reengagement.outcome(for: material)
    case .occasion: occasion.outcome(for: material)
    case .lapse: .hit(LayerFinding(layer: .lapse, domain: nil, subject: .absence(material.facts)))
    }
  }
}

extension CampaignMaterial {
  /// Why a layer that needs an inactive user finds nothing; nil when the user was inactive for at least `needed`.
  /// Inactivity is unknown without the messages, and then nothing is sent.
  func activityNote(for layer: CampaignLayer, needed: Duration) -> LayerNote? {
    if missingSources.contains(.messages) { return LayerNote(layer: layer, rule: .messageSourceMissing) }
    guard let inactiveFor else { return LayerNote(layer: layer, rule: .neverActive) }
    if inactiveFor >= needed { return nil }
    return LayerNote(
      layer: layer, rule: .recentlyActive,
      figures: [.inactiveSeconds: inactiveFor.inSeconds, .inactiveSecondsNeeded: needed.inSeconds])
  }
}

/// The layer for a subject of the campaign itself, such as a daily ritual. It hits for every user of the audience.
struct OccasionLayer: Equatable {
  /// The subject; nil finds nothing.
  var occasion: String?

  func outcome(for material: CampaignMaterial) -> LayerOutcome {
    guard let occasion else { return .miss(LayerNote(layer: .occasion, rule: .noOccasion)) }
    return .hit(
      LayerFinding(
        layer: .occasion, domain: material.lastConversation?.domain, subject: .occasion(name: occasion)))
  }
}

extension Duration {
  /// In seconds, exact to the microsecond up to centuries.
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
