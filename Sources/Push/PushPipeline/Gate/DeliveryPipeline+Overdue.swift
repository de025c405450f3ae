internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Gate: held pushes whose message's life has ended.
extension DeliveryPipeline {
  /// An overdue push that was tried has failed, for the reason of its last try; one that never was has expired.
  func settle(
    _ overdue: [Int: RecipientOutcome], of progress: EventProgress, on reactor: isolated Reactor
  ) async {
    do throws(PostgresError) {
      let reasons = try await store.lastFailures(
        of: progress.event.subject, to: overdue.values.map(\.userID), on: reactor)
      for (index, outcome) in overdue {
        let failed = reasons[outcome.userID].map {
          RecipientOutcome(userID: outcome.userID, decision: .failed, reason: $0)
        }
        progress.settle(failed ?? outcome, of: index)
      }
      recordIfDecided(progress, on: reactor)
    } catch {
      logger.warning("cannot ask why pushes failed; they are claimed again", metadata: ["error": "\(error)"])
      release(progress.event.places, on: reactor)
    }
  }
}

extension RecipientOutcome {
  var hasExpired: Bool { decision == .skipped && reason == DecisionReason.expired.rawValue }
}
