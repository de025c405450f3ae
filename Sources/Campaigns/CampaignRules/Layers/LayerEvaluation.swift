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
