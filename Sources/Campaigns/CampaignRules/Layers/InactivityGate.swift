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
