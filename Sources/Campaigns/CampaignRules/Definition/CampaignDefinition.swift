/// A campaign as data: what it looks for, who writes, and what its pushes carry. Whom it concerns and how often is the
/// database's part.
public struct CampaignDefinition: Equatable, Sendable {
  /// Its layers in the order of looking; at least one, none twice.
  public let layers: [CampaignLayer]
  /// What ``OccasionLayer`` writes about, such as `evening reflection`; there when the layer is.
  public let occasion: String?
  /// Who writes.
  public let composer: CampaignComposer
  /// Its templates by push type; when the composer may come to one, none is empty for the type of any layer.
  public let templates: [CampaignPushType: TemplatePool]
  /// What every push carries beside what the run puts in: `aps`, `domain`, `push_type` and `push_log_id` are not among
  /// them.
  public let payload: [String: String]

  /// The limits of its layers.
  public var layerSettings: LayerSettings { LayerSettings(occasion: OccasionLayer(occasion: occasion)) }
}
