internal import FoundationEssentials
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

/// Composes a push of a campaign with hours: the model's text if it keeps all rules, else the campaign's fallback.
struct CheckInComposer {
  typealias Composition = ModelTexts.Composition

  let texts: ModelTexts

  func compose(
    _ finding: LayerFinding, from material: CampaignMaterial, by definition: CampaignDefinition, for turn: CampaignTurn,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> Composition {
    guard case .model(let onFailure, let task) = definition.composer else {
      return template(for: finding, material, definition, turn.userID, Composition(writing: .init(by: "template")))
    }
    var composition = try await write(finding, material, task, for: turn, on: reactor)
    if composition.text == nil, onFailure == .template {
      composition = template(for: finding, material, definition, turn.userID, composition)
    }
    return composition
  }

  private func write(
    _ finding: LayerFinding, _ material: CampaignMaterial, _ task: ModelTask?, for turn: CampaignTurn,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> Composition {
    let sources = material.quotableTexts
    let (userID, occasion) = (turn.userID, "\(turn.campaign) \(turn.localDay)")
    guard let task else {
      return try await texts.write(CheckInPrompt(for: finding, in: material), for: userID, on: occasion, on: reactor) {
        reply throws(ReplyDefect) in
        try CheckInReply(modelText: reply, sources: sources)
      }
    }
    return try await texts.write(
      task.prompt(for: .titleAndBody, with: material.facts), for: userID, on: occasion, within: task.limit, on: reactor
    ) { reply throws(ReplyDefect) in
      try CheckInReply(modelText: reply, form: .titleAndBody, rules: task.rules, sources: sources)
    }
  }

  private func template(
    for finding: LayerFinding, _ material: CampaignMaterial, _ definition: CampaignDefinition, _ userID: HostID,
    _ attempt: Composition
  ) -> Composition {
    var composition = attempt
    composition.writing.by = "template"
    composition.text = definition.templates[finding.pushType]?.text(
      for: userID.withBytes(Array.init), on: material.localTime.day(of: material.moment), with: finding.templateValues,
      in: material.facts.locale)
    if composition.text == nil { composition.writing.failure = composition.writing.failure ?? "no_template" }
    return composition
  }
}
