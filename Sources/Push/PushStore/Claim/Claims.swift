internal import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

/// How much one claim takes, and for how long.
package struct ClaimLimits: Equatable, Sendable {
  /// Recipients of one event unless the caller says otherwise: as many as are decided within some milliseconds, so that
  /// other work waits no longer than that.
  package static let recipientsMaxDefault = 250

  /// Device tokens of one user at the most, the newest ones where the host's function knows them: five times as many as a
  /// user keeps unless `DEVICES_PER_USER_MAX` says otherwise, and few enough that one user's are no burst.
  package static let devicesMax = 50

  /// Rescues unless the caller says otherwise. With a lease of 30 s that doubles from the third claim on, six are
  /// 32 minutes: long enough for a fault that passes, and a replay finds the message within the hour that a push is
  /// worth sending.
  package static let rescuesMaxDefault = 6

  /// New events at the most.
  package var eventsMax: Int

  /// Rescued events, and holds and retries that are due, at the most each.
  package var deliveriesMax: Int

  /// Recipients of one event at the most; more come with a later claim.
  package var recipientsMax = Self.recipientsMaxDefault

  /// The lanes that take pushes now, as records name them, each with how many of the deliveries that wait for it.
  package var lanes: [String: Int] = [:]

  package var lease: Duration

  /// How often a lease may run out before the work is left to be parked.
  package var rescuesMax = Self.rescuesMaxDefault

  /// How old a message may have been when it was enqueued; a day unless the caller says otherwise. What was older is not
  /// claimed; see ``PushDatabase/discardTooOld(life:rowsMax:on:)``.
  package var life = Duration.seconds(86_400)

  /// How far back a claim of messages looks, from the database's now; at most ``lookBackMax``.
  package var lookBack = Self.lookBackMax {
    didSet { lookBack = min(lookBack, Self.lookBackMax) }
  }

  /// Five minutes. What was enqueued with an age is available since then, and is left to a claim of everything.
  package static let lookBackMax = Duration.seconds(300)

  /// What the caller owns; nothing of other shards is claimed.
  package var owned = OwnedShards.all

  /// Messages that the caller has in hand without a lease, from their claim until after their record; in their order.
  package var held: [HostID] = []

  package init(eventsMax: Int, deliveriesMax: Int, lanes: [String: Int] = [:], lease: Duration) {
    self.eventsMax = eventsMax
    self.deliveriesMax = deliveriesMax
    self.lanes = lanes
    self.lease = lease
  }
}

extension StatementCall {
  static func claim(_ limits: ClaimLimits) -> StatementCall {
    .claim(
      eventsMax: limits.eventsMax, deliveriesMax: limits.deliveriesMax,
      leaseMicroseconds: limits.lease.wholeMicroseconds, recipientsMax: limits.recipientsMax,
      rescuesMax: limits.rescuesMax, lanes: Array(limits.lanes.keys),
      laneDeliveriesMax: Array(limits.lanes.values), lifeMicroseconds: limits.life.wholeMicroseconds,
      shards: limits.owned.numbers, heldIDs: limits.held)
  }

  static func claimMessages(_ limits: ClaimLimits) -> StatementCall {
    .claimMessages(
      messagesMax: limits.eventsMax, recipientsMax: limits.recipientsMax,
      lookBackMicroseconds: limits.lookBack.wholeMicroseconds, ownedSinceMicroseconds: limits.owned.since,
      shards: limits.owned.numbers, heldIDs: limits.held)
  }
}

/// A leased piece of work that has not been looked at.
package struct LeasedWork: Equatable, Sendable, Decodable {
  package let subject: PushSubject

  /// The recipient of a delivery; nil for an event.
  package let userID: HostID?
}

/// What a look would find.
package struct WaitingWork: Equatable, Sendable, Decodable {
  /// New messages, for ``PushDatabase/claimMessages(_:on:)``.
  package let hasMessages: Bool

  /// Rows of watched tables, for ``PushDatabase/followChangedRows(_:on:)``.
  package let hasChangedRows: Bool

  /// Other work, for ``PushDatabase/claim(_:on:)``, or changed rows that become some.
  package let hasOthers: Bool
}

// Claims of everything: at once, and one by one.
extension PushDatabase {
  /// Says what waits, for a fraction of what a claim that finds nothing costs.
  package func waitingWork(
    _ limits: ClaimLimits, on reactor: isolated Reactor
  ) async throws(PostgresError) -> WaitingWork {
    let call = StatementCall.waitingWork(
      lookBackMicroseconds: limits.lookBack.wholeMicroseconds, lanes: Array(limits.lanes.keys),
      shards: limits.owned.numbers, heldIDs: limits.held)
    return try await pool.query(call, afterReturn: Self.recordsFirst, on: reactor).one().decoded()
  }

  /// Whether new messages wait for ``claimMessages(_:on:)``, for a fifth of what a claim costs that finds none.
  package func hasMessages(_ limits: ClaimLimits, on reactor: isolated Reactor) async throws(PostgresError) -> Bool {
    let call = StatementCall.hasMessages(
      lookBackMicroseconds: limits.lookBack.wholeMicroseconds, ownedSinceMicroseconds: limits.owned.since,
      shards: limits.owned.numbers, heldIDs: limits.held)
    return try await pool.query(call, afterReturn: Self.recordsFirst, on: reactor).one().decode(0)
  }

  /// Leases work and reads what its decisions need.
  /// - Returns: new events first, in the order of their commits; what waited for its lane last, the newest of it first.
  package func claim(_ limits: ClaimLimits, on reactor: isolated Reactor) async throws(PostgresError) -> [PushEvent] {
    let rows = try await pool.query(.claim(limits), afterReturn: Self.recordsFirst, on: reactor)
    return try await events(from: rows, columns: ClaimRow.claim, recipientsMax: limits.recipientsMax, on: reactor)
  }

  /// Leases work without looking at it: for when one piece that cannot be looked at makes every claim fail.
  package func lease(_ limits: ClaimLimits, on reactor: isolated Reactor) async throws(PostgresError) -> [LeasedWork] {
    let call = StatementCall.lease(
      eventsMax: limits.eventsMax, deliveriesMax: limits.deliveriesMax,
      leaseMicroseconds: limits.lease.wholeMicroseconds, rescuesMax: limits.rescuesMax,
      lanes: Array(limits.lanes.keys), laneDeliveriesMax: Array(limits.lanes.values),
      lifeMicroseconds: limits.life.wholeMicroseconds, shards: limits.owned.numbers, heldIDs: limits.held)
    return try await pool.query(call, on: reactor).decoded()
  }

  /// Looks at leased work.
  /// - Returns: nil when it is gone.
  package func look(
    at work: LeasedWork, recipientsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PushEvent? {
    let recipientsMax = work.userID == nil ? recipientsMax : 1
    let rows = try await pool.query(
      .lookAtWork(
        subjectID: work.subject.id, kind: work.subject.kind, userID: work.userID, recipientsMax: recipientsMax),
      on: reactor)
    return try await events(
      from: rows, columns: ClaimRow.lookAtWork, recipientsMax: recipientsMax, on: reactor
    ).first
  }

  /// Stores why leased work could not be looked at; the parked row has it if that never works.
  /// - Parameter wait: gives the work back, because it is not at fault: it comes again after that while, and is not parked for it. Nil
  ///   keeps its lease.
  package func note(
    _ error: PostgresError, of work: LeasedWork, givingBackFor wait: Duration? = nil, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(
      .noteFailedLook(
        subjectID: work.subject.id, kind: work.subject.kind, userID: work.userID, error: error.description,
        waitMicroseconds: wait?.wholeMicroseconds), on: reactor)
  }

  /// Looks at no work at all: fails where looks fail for all work alike, as when a function that they call is not there.
  package func lookAtNothing(on reactor: isolated Reactor) async throws(PostgresError) {
    let nothing = LeasedWork(subject: .message(HostID(UUID())), userID: nil)
    _ = try await look(at: nothing, recipientsMax: 1, on: reactor)
  }
}
