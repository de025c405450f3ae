internal import CampaignRules
internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushKinds
internal import PushStore
internal import Reactors

/// Composes a check-in: the model's text if it keeps all rules, else the campaign's fallback.
struct CheckInComposer {
  /// A text, or the reason for its absence.
  struct Composition {
    var text: CampaignText?
    var writing: CampaignInputs.Writing
    var usage = CampaignUsage()
  }

  let store: PushDatabase
  /// Nil without a language model.
  let writer: (any CheckInWriter)?
  let limits: ModelUsageLimits
  let logger: Logger

  func compose(
    _ finding: LayerFinding, from material: CampaignMaterial, by definition: CampaignDefinition, for userID: HostID,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> Composition {
    guard case .model(let onFailure) = definition.composer else {
      return template(for: finding, material, definition, userID, Composition(writing: .init(by: "template")))
    }
    var composition = try await write(CheckInPrompt(for: finding, in: material), material, on: reactor)
    if composition.text == nil, onFailure == .template {
      composition = template(for: finding, material, definition, userID, composition)
    }
    return composition
  }

  private func template(
    for finding: LayerFinding, _ material: CampaignMaterial, _ definition: CampaignDefinition, _ userID: HostID,
    _ attempt: Composition
  ) -> Composition {
    var composition = attempt
    composition.writing.by = "template"
    composition.text = definition.templates[finding.pushType]?.text(
      for: userID.withBytes(Array.init), on: material.localTime.day(of: material.moment), with: finding.templateValues)
    if composition.text == nil { composition.writing.failure = composition.writing.failure ?? "no_template" }
    return composition
  }

  private func write(
    _ prompt: CheckInPrompt, _ material: CampaignMaterial, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Composition {
    guard let writer else { return failed("model_not_configured") }
    let most = writer.usageMax(of: prompt)
    let reservation = try await store.reserveModelUsage(
      tokens: most.inputTokens + most.outputTokens, costMicrodollars: most.costMicrodollars, within: limits, on: reactor
    )
    guard let reservation else { return failed("model_budget_spent") }
    let written = await writer.write(prompt, on: reactor)
    await settle(reservation, written.usage, on: reactor)
    var composition = Composition(writing: .init(by: "model"), usage: written.usage)
    do {
      composition.text = try CheckInReply(modelText: written.text.get(), sources: material.quotableTexts).text
    } catch let defect as ReplyDefect {
      composition.writing.failure = defect.rawValue
    } catch let failure as WritingFailure {
      composition.writing.failure = failure.reason
    } catch {
      preconditionFailure("a reply is unusable for no known reason")
    }
    return composition
  }

  private func failed(_ reason: String) -> Composition {
    Composition(writing: .init(by: "model", failure: reason))
  }

  /// An unsettled reservation stays for the day, so usage is never undercounted.
  private func settle(
    _ reservation: ModelUsageReservation, _ usage: CampaignUsage, on reactor: isolated Reactor
  ) async {
    do throws(PostgresError) {
      try await store.settle(reservation, usage, on: reactor)
    } catch {
      logger.warning("what a model used is not noted", metadata: ["error": "\(error)"])
    }
  }
}
