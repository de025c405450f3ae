internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

// One piece of work that cannot be looked at must not keep all others from being claimed: the host's functions may fail
// for a single message, or take too long for a large one.
extension DeliveryPipeline {
  /// Leased at once; few, because each is looked at in a round trip of its own.
  private static let piecesMax = 16

  /// Leases some work, then looks at each piece alone. One that fails keeps its lease, comes back when that runs out,
  /// and is parked with its error when that has happened too often.
  func claimOneByOne(
    _ limits: ClaimLimits, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [PushEvent] {
    var limits = limits
    limits.eventsMax = min(limits.eventsMax, Self.piecesMax)
    limits.deliveriesMax = min(limits.deliveriesMax, Self.piecesMax)
    limits.lanes = []
    var events: [PushEvent] = []
    let end = Reactor.now + configuration.lease.clampedNanoseconds / 4
    for piece in try await store.lease(limits, on: reactor) {
      // What is left comes back when its lease is over; what was looked at must not get stale for it.
      guard Reactor.now < end else { break }
      do throws(PostgresError) {
        if let event = try await store.look(at: piece, recipientsMax: limits.recipientsMax, on: reactor) {
          events.append(event)
        }
      } catch {
        guard error.blamesStatement else { throw error }
        try await leave(piece, because: error, on: reactor)
      }
    }
    signal.signal(on: reactor)
    return events
  }

  /// Its lease stays; the error stands in its row.
  private func leave(
    _ piece: LeasedWork, because error: PostgresError, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    logger.error(
      "cannot look at this one; it is tried again when its lease is over",
      metadata: ["subject_id": "\(piece.subject.id.lowercased)", "error": "\(error)"])
    try await store.note(error, of: piece, on: reactor)
  }
}
