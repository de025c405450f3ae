internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Trigger: one piece of work whose look fails must not keep all others from being claimed. The host's functions may fail for a
// single message, or take too long for a large one.
extension DeliveryPipeline {
  /// Pieces leased at once; few, because each look is a separate round trip.
  private static let piecesMax = 16

  /// The results of a look at each piece alone.
  private struct Pieces {
    var events: [PushEvent] = []
    var failed: [(piece: LeasedWork, error: PostgresError)] = []
  }

  /// Leases some work, then looks at each piece alone. A piece that fails alone keeps its lease, comes back when the lease runs
  /// out, and is parked with its error after too many times. Where all fail, the host's functions or the server are at fault:
  /// the pieces are given back and not parked.
  /// - Returns: nil when looks still fail for reasons other than a piece.
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
      // The rest comes back when its lease is over, so that the pieces looked at stay fresh.
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

  /// No look at a piece succeeded. Whether the pieces are at fault, and keep their leases.
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
      // All work would fail like this, so a wait would not help other work.
      wait = .zero
    }
    for (piece, error) in failed { try await store.giveBack(piece, because: error, for: wait, on: reactor) }
    return false
  }

  /// Whether a look at other work succeeded within a lease, which clears the host's functions and the server.
  private func othersWereFound(now: UInt64) -> Bool {
    guard let foundAt else { return false }
    return now &- foundAt < configuration.lease.clampedNanoseconds
  }

  /// Keeps their leases, and writes the errors into their rows.
  private func leave(
    _ failed: [(piece: LeasedWork, error: PostgresError)], on reactor: isolated Reactor
  ) async throws(PostgresError) {
    for (piece, error) in failed {
      logger.error(
        "cannot look at this one; it is tried again when its lease is over",
        metadata: ["subject_id": "\(piece.subject.id.text)"].merging(error.logged) { $1 })
      try await store.note(error, of: piece, on: reactor)
    }
  }
}
