internal import CampaignRules
internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

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
