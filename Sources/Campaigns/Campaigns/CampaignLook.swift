internal import CampaignRules
internal import FoundationEssentials
internal import PushStore

/// One user as the rules see them, and what the layers of a campaign make of it.
struct CampaignLook {
  let material: CampaignMaterial
  let evaluation: LayerEvaluation

  /// - Parameters:
  ///   - text: the material as JSON. now: its moment, microseconds since 1970.
  /// Nil for a text that is no object.
  init?(_ text: String, at now: Int64, of turn: CampaignTurn, by definition: CampaignDefinition) {
    guard let document = try? JSONDecoder().decode(MaterialDocument.self, from: Data(text.utf8)) else { return nil }
    let moment = Date(microseconds: now)
    let finder = HappeningFinder(zoneName: turn.timeZone, locale: document.locale)
    var material = document.material(at: moment, localTime: finder?.localTime(at: moment) ?? .utc)
    material.happenings = finder?.happenings(in: material.messages) ?? []
    self.material = material
    evaluation = LayerEvaluation(of: material, layers: definition.layers, settings: definition.layerSettings)
  }

  /// What is recorded when nobody writes anything.
  var findings: CampaignFindings { CampaignFindings(layer: nil, inputs: inputs.json) }

  /// What is recorded with what was written.
  func findings(_ composition: CheckInComposer.Composition) -> CampaignFindings {
    var inputs = inputs
    inputs.writing = composition.writing
    return CampaignFindings(
      layer: evaluation.finding?.layer.rawValue, inputs: inputs.json, usage: composition.usage)
  }

  private var inputs: CampaignInputs { CampaignInputs(notes: evaluation.notes, finding: evaluation.finding?.metadata) }
}
