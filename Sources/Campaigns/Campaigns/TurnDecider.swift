internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

enum TurnDecision: Equatable {
  /// A push is queued.
  case committed(UUID)
  case skipped(String)
  case failed(String)
  /// Another process has decided, or will.
  case lost
}

/// Decides one user's turn: whether a push is allowed, whether there is a reason to write, and which text is sent.
///
/// It keeps no state. The commit checks all conditions once more.
struct TurnDecider {
  let store: PushDatabase
  let composer: CheckInComposer
  let logger: Logger

  /// - Throws: a failure that does not concern this user. The turn is repeated when its lease expires.
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
      finding, from: look.material, by: definition, for: turn, on: reactor)
    let findings = look.findings(composition)
    guard let text = composition.text else {
      return try await end(turn, .skipped, composition.writing.failure ?? "no_text", findings, on: reactor)
    }
    let push = WrittenCampaignPush(text, for: finding, of: definition, campaign: turn.campaign)
    switch try await store.commit(push, for: turn, findings, on: reactor) {
    case .committed(let id): return .committed(id)
    case .refused("claim_lost"): return .lost
    case .refused(let reason): return .skipped(reason)
    }
  }

  /// Ends a turn without a push.
  func end(
    _ turn: CampaignTurn, _ refusal: CampaignRefusal, _ reason: String,
    _ findings: CampaignFindings = CampaignFindings(), on reactor: isolated Reactor
  ) async throws(PostgresError) -> TurnDecision {
    guard try await store.decide(turn, refusal, reason: reason, findings, on: reactor) else { return .lost }
    return refusal == .skipped ? .skipped(reason) : .failed(reason)
  }
}

/// Evaluates one user without a decision.
struct TurnLook {
  let store: PushDatabase
  let logger: Logger

  /// The user's material and the result of the layers, or a refusal.
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
      // The host's function fails for this user. Others must not wait for that.
      guard error.blamesStatement else { throw error }
      logger.error(
        "a user's material cannot be read", metadata: ["campaign": "\(turn.campaign)", "error": "\(error)"])
      return .refused(.failed, "material_failed")
    }
  }
}

enum LookOutcome {
  case refused(CampaignRefusal, String)
  case seen(CampaignLook)
}

/// One user's material, and the result of a campaign's layers for it.
struct CampaignLook {
  let material: CampaignMaterial
  let evaluation: LayerEvaluation

  /// - Parameters:
  ///   - text: the material as JSON.
  ///   - now: its moment, in microseconds since 1970.
  /// Nil for a text that is not an object.
  init?(_ text: String, at now: Int64, of turn: CampaignTurn, by definition: CampaignDefinition) {
    guard let document = try? JSONDecoder().decode(MaterialDocument.self, from: Data(text.utf8)) else { return nil }
    let moment = Date(microseconds: now)
    let finder = HappeningFinder(zoneName: turn.timeZone, locale: document.locale)
    var material = document.material(at: moment, localTime: finder?.localTime(at: moment) ?? .utc)
    material.happenings = finder?.happenings(in: material.messages) ?? []
    material.facts = SlotValues(json: text) ?? SlotValues()
    self.material = material
    evaluation = definition.evaluation(of: material)
  }

  var findings: CampaignFindings { CampaignFindings(layer: nil, inputs: inputs.json) }

  func findings(_ composition: CheckInComposer.Composition) -> CampaignFindings {
    var inputs = inputs
    inputs.writing = composition.writing
    return CampaignFindings(
      layer: evaluation.finding?.layer.rawValue, inputs: inputs.json, usage: composition.usage)
  }

  private var inputs: CampaignInputs { CampaignInputs(notes: evaluation.notes, finding: evaluation.finding?.metadata) }
}
