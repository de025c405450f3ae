internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

// One piece of work that cannot be looked at must not keep all others from being claimed: the host's functions may fail
// for a single message, or take too long for a large one.
extension DeliveryPipeline {
  /// Leased at once; few, because each is looked at in a round trip of its own.
  private static let piecesMax = 16

  /// What came of a look at each piece alone.
  private struct Pieces {
    var events: [PushEvent] = []
    var failed: [(piece: LeasedWork, error: PostgresError)] = []
  }

  /// Leases some work, then looks at each piece alone. One that fails while others do not keeps its lease, comes back when
  /// that runs out, and is parked with its error when that has happened too often. Where all fail alike, the host's
  /// functions or the server are to blame: they are given back, and none is parked for it.
  /// - Returns: nil when looks still fail for reasons that are no piece's own.
  func claimOneByOne(
    _ limits: ClaimLimits, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [PushEvent]? {
    let pieces = try await lookAtPieces(within: limits, on: reactor)
    guard pieces.failed.isEmpty || pieces.events.isEmpty else {
      try await leave(pieces.failed, on: reactor)
      return pieces.events
    }
    guard pieces.events.isEmpty else { return pieces.events }
    return try await judge(pieces.failed, on: reactor) ? [] : nil
  }

  private func lookAtPieces(
    within limits: ClaimLimits, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Pieces {
    var limits = limits
    limits.eventsMax = min(limits.eventsMax, Self.piecesMax)
    limits.deliveriesMax = min(limits.deliveriesMax, Self.piecesMax)
    limits.lanes = []
    var pieces = Pieces()
    let end = Reactor.now + configuration.lease.clampedNanoseconds / 4
    for piece in try await store.lease(limits, on: reactor) {
      // What is left comes back when its lease is over; what was looked at must not get stale for it.
      guard Reactor.now < end else { break }
      do throws(PostgresError) {
        if let event = try await store.look(at: piece, recipientsMax: limits.recipientsMax, on: reactor) {
          pieces.events.append(event)
        }
      } catch {
        guard !error.concernsConnection else { throw error }
        pieces.failed.append((piece, error))
      }
    }
    return pieces
  }

  /// No look at a piece came to an end. Whether the pieces are at fault, and are left.
  private func judge(
    _ failed: [(piece: LeasedWork, error: PostgresError)], on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    var wait = configuration.lease
    do throws(PostgresError) {
      try await store.lookAtNothing(on: reactor)
      let isAlone = failed.count == 1 && failed[0].error.blamesStatement
      if isAlone || (!failed.isEmpty && othersWereFound(now: Reactor.now)) {
        try await leave(failed, on: reactor)
        return true
      }
    } catch {
      guard !error.concernsConnection else { throw error }
      // All work meets this, so nothing is gained by letting other work try.
      wait = .zero
    }
    for (piece, error) in failed { try await store.giveBack(piece, because: error, for: wait, on: reactor) }
    return false
  }

  /// Whether other work was looked at within a lease, so that the host's functions and the server do their part.
  private func othersWereFound(now: UInt64) -> Bool {
    guard let foundAt else { return false }
    return now &- foundAt < configuration.lease.clampedNanoseconds
  }

  /// Their leases stay; the errors stand in their rows.
  private func leave(
    _ failed: [(piece: LeasedWork, error: PostgresError)], on reactor: isolated Reactor
  ) async throws(PostgresError) {
    for (piece, error) in failed {
      logger.error(
        "cannot look at this one; it is tried again when its lease is over",
        metadata: ["subject_id": "\(piece.subject.id.lowercased)"].merging(error.logged) { $1 })
      try await store.note(error, of: piece, on: reactor)
    }
  }
}
