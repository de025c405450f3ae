internal import CampaignRules
internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

/// What a look at one user comes to.
enum TurnDecision: Equatable {
  /// A push is queued.
  case committed(UUID)
  /// Nothing is sent, for this reason.
  case skipped(String)
  /// Something that should work did not.
  case failed(String)
  /// Somebody else has decided, or will.
  case lost
}

/// Looks at one user: may they be pushed, is there something to say, in which words; and decides.
///
/// Nothing here is remembered: whatever is true when the decision is committed is looked at there once more.
struct TurnDecider {
  let store: PushDatabase
  let composer: CheckInComposer
  let logger: Logger

  /// - Throws: what is no fault of this user's: then the turn is taken up again when its lease runs out.
  func decide(
    _ turn: CampaignTurn, by definition: CampaignDefinition, on reactor: isolated Reactor
  ) async throws(PostgresError) -> TurnDecision {
    guard !turn.isLate else { return try await end(turn, .skipped, "too_late", on: reactor) }
    let look: CampaignLook
    switch try await TurnLook(store: store, logger: logger).outcome(of: turn, by: definition, on: reactor) {
    case .refused(let refusal, let reason): return try await end(turn, refusal, reason, on: reactor)
    case .seen(let seen): look = seen
    }
    guard let finding = look.evaluation.finding else {
      return try await end(turn, .skipped, "nothing_to_say", look.findings, on: reactor)
    }
    let composition = try await composer.compose(
      finding, from: look.material, by: definition, for: turn.userID, on: reactor)
    let findings = look.findings(composition)
    guard let text = composition.text else {
      return try await end(turn, .skipped, composition.writing.failure ?? "no_text", findings, on: reactor)
    }
    let push = CampaignPush(text, for: finding, of: definition, campaign: turn.campaign)
    switch try await store.commit(push, for: turn, findings, on: reactor) {
    case .committed(let id): return .committed(id)
    case .refused("claim_lost"): return .lost
    case .refused(let reason): return .skipped(reason)
    }
  }

  private func end(
    _ turn: CampaignTurn, _ refusal: CampaignRefusal, _ reason: String,
    _ findings: CampaignFindings = CampaignFindings(), on reactor: isolated Reactor
  ) async throws(PostgresError) -> TurnDecision {
    guard try await store.decide(turn, refusal, reason: reason, findings, on: reactor) else { return .lost }
    return refusal == .skipped ? .skipped(reason) : .failed(reason)
  }
}
