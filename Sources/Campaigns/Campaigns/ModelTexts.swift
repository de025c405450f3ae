internal import CampaignRules
internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

/// Texts that a language model writes within the day's budget.
struct ModelTexts {
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

  /// Asks the model once.
  /// - Parameters:
  ///   - limit: how long it may take; nil for the writer's own limit.
  ///   - check: reads a reply, and refuses one that breaks a rule.
  func write(
    _ prompt: CheckInPrompt, within limit: Duration? = nil, on reactor: isolated Reactor,
    check: (String) throws(ReplyDefect) -> CheckInReply
  ) async throws(PostgresError) -> Composition {
    guard let writer else { return failed("model_not_configured") }
    let most = writer.usageMax(of: prompt)
    let reservation = try await store.reserveModelUsage(
      tokens: most.inputTokens + most.outputTokens, costMicrodollars: most.costMicrodollars, within: limits, on: reactor
    )
    guard let reservation else { return failed("model_budget_spent") }
    let written = await writer.write(prompt, within: limit, on: reactor)
    await settle(reservation, written.usage, on: reactor)
    var composition = Composition(writing: .init(by: "model"), usage: written.usage)
    do {
      composition.text = try check(written.text.get()).text
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
