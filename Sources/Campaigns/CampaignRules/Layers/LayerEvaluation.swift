/// What the layers of a campaign say of one user: the first hit wins, and each layer before it says why it found nothing.
public struct LayerEvaluation: Equatable, Sendable {
  /// The reason to write; nil when no layer found one, and then nothing is sent.
  public let finding: LayerFinding?
  /// One note for each layer that was looked at and found nothing, in the order of looking; never empty without a finding,
  /// unless there were no layers.
  public let notes: [LayerNote]

  /// Looks at the layers in the given order, which is the campaign's, until one hits.
  public init(
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

/// What one layer says of a user.
public enum LayerOutcome: Equatable, Sendable {
  /// There is a reason to write.
  case hit(LayerFinding)
  /// There is none, for this reason.
  case miss(LayerNote)
}

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

/// Whether a user has been away long enough; shared by the layers that wait for it.
struct InactivityGate {
  let layer: CampaignLayer
  /// The least time away; inclusive.
  let needed: Duration

  /// Why the layer must not speak; nil when it may. Without the messages nobody knows, and then nothing is sent.
  func note(for material: CampaignMaterial) -> LayerNote? {
    if material.missingSources.contains(.messages) { return LayerNote(layer: layer, rule: .messageSourceMissing) }
    guard let inactiveFor = material.inactiveFor else { return LayerNote(layer: layer, rule: .neverActive) }
    if inactiveFor >= needed { return nil }
    return LayerNote(
      layer: layer, rule: .recentlyActive,
      figures: [.inactiveSeconds: inactiveFor.inSeconds, .inactiveSecondsNeeded: needed.inSeconds])
  }
}

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

extension Duration {
  /// Its length in seconds; exact to the microsecond up to centuries.
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
