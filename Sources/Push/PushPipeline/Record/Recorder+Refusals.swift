internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Events that the database refuses to record.
extension Recorder {
  /// Does what helps against a refusal: writes the events of a batch apart, so that the others are recorded. One that is
  /// refused alone is written without its findings about device tokens, which functions and constraints of the host check.
  /// Refused again, it is parked with its reason, so that it is not sent again and again.
  /// - Returns: whether nothing of the batch is left to write.
  func settle(_ batch: [DecidedEvent], refusedWith error: PostgresError, on reactor: isolated Reactor) async -> Bool {
    if error.blamesStatement, batch.count > 1 {
      await write(Array(batch[..<(batch.count / 2)]), on: reactor)
      await write(Array(batch[(batch.count / 2)...]), on: reactor)
      return true
    }
    guard error.isRefusal else { return false }
    if let known = batch[0].withoutFindings {
      await write([known], on: reactor)
      return true
    }
    return batch[0].purpose == .record ? await park(batch[0], error, on: reactor) : true
  }

  private func park(_ decided: DecidedEvent, _ error: PostgresError, on reactor: isolated Reactor) async -> Bool {
    do throws(PostgresError) {
      try await store.park(decided.event, because: error, on: reactor)
    } catch {
      return false
    }
    logger.error(
      "an event is parked: the database refuses its record",
      metadata: ["subject_id": "\(decided.event.subject.id.text)", "error": "\(error)"])
    owner?.setAside(decided, on: reactor)
    return true
  }
}
