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

/// Looks at one user without deciding anything.
struct TurnLook {
  let store: PushDatabase
  let logger: Logger

  /// What is known of a user, and what the layers make of it; nothing is decided.
  func outcome(
    of turn: CampaignTurn, by definition: CampaignDefinition, on reactor: isolated Reactor
  ) async throws(PostgresError) -> LookOutcome {
    do throws(PostgresError) {
      switch try await store.standing(of: turn, on: reactor) {
      case .refused(let reason): return .refused(.skipped, reason)
      case .allowed(let text, let now):
        guard let look = CampaignLook(text, at: now, of: turn, by: definition) else {
          return .refused(.failed, "material_unreadable")
        }
        return .seen(look)
      }
    } catch {
      // The host's functions fail for this user: others must not wait for that.
      guard error.blamesStatement else { throw error }
      logger.error(
        "a user's material cannot be read", metadata: ["campaign": "\(turn.campaign)", "error": "\(error)"])
      return .refused(.failed, "material_failed")
    }
  }
}

/// What a look at a user came to.
enum LookOutcome {
  case refused(CampaignRefusal, String)
  case seen(CampaignLook)
}

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
