internal import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

/// A leased piece of work that has not been looked at.
package struct LeasedWork: Equatable, Sendable {
  package let subject: PushSubject

  /// The recipient of a delivery; nil for an event.
  package let userID: HostID?
}

/// What a look would find.
package struct WaitingWork: Equatable, Sendable {
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
    let rows = try await pool.query(
      .waitingWork(lookBackMicroseconds: limits.lookBack.wholeMicroseconds, lanes: limits.lanes.map(\.name)),
      afterReturn: Self.recordsFirst, on: reactor)
    let row = try rows.one()
    return WaitingWork(
      hasMessages: try row.decode("has_messages"), hasChangedRows: try row.decode("has_changed_rows"),
      hasOthers: try row.decode("has_others"))
  }

  /// Leases work and reads what its decisions need.
  /// - Returns: new events first, in the order of their commits; what waited for its lane last, the newest of it first.
  package func claim(_ limits: ClaimLimits, on reactor: isolated Reactor) async throws(PostgresError) -> [PushEvent] {
    let rows = try await pool.query(.claim(limits), afterReturn: Self.recordsFirst, on: reactor)
    return try await events(from: rows, columns: ClaimRow.claim, recipientsMax: limits.recipientsMax, on: reactor)
  }

  /// Leases work without looking at it: for when one piece that cannot be looked at makes every claim fail.
  package func lease(_ limits: ClaimLimits, on reactor: isolated Reactor) async throws(PostgresError) -> [LeasedWork] {
    var work: [LeasedWork] = []
    for row in try await pool.query(.lease(limits), on: reactor) {
      let subject = PushSubject(id: try row.decode("subject_id"), kind: try row.decode("kind"))
      work.append(LeasedWork(subject: subject, userID: try row.decode("user_id")))
    }
    return work
  }

  /// Looks at leased work.
  /// - Returns: nil when it is gone.
  package func look(
    at work: LeasedWork, recipientsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PushEvent? {
    let (id, kind) = (work.subject.id, work.subject.kind)
    let (call, columns): (StatementCall, _) =
      if let userID = work.userID {
        (.lookAtDelivery(subjectID: id, kind: kind, userID: userID, recipientsMax: 1), ClaimRow.lookAtDelivery)
      } else {
        (.lookAtEvent(subjectID: id, kind: kind, recipientsMax: recipientsMax), ClaimRow.lookAtEvent)
      }
    let rows = try await pool.query(call, on: reactor)
    return try await events(from: rows, columns: columns, recipientsMax: recipientsMax, on: reactor).first
  }

  /// Stores why leased work could not be looked at; the parked row has it if that never works.
  package func note(
    _ error: PostgresError, of work: LeasedWork, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    let (id, kind, reason) = (work.subject.id, work.subject.kind, error.description)
    if let userID = work.userID {
      try await pool.query(
        .recordDeliveryError(subjectID: id, kind: kind, userID: userID, error: reason), on: reactor)
    } else {
      try await pool.query(.recordEventError(subjectID: id, kind: kind, error: reason), on: reactor)
    }
  }

  /// Gives leased work back that could not be looked at through no fault of its own; it comes again after a while, and
  /// is not parked for it.
  package func giveBack(
    _ work: LeasedWork, because error: PostgresError, for wait: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    let (id, kind, reason) = (work.subject.id, work.subject.kind, error.description)
    let wait = wait.wholeMicroseconds
    if let userID = work.userID {
      try await pool.query(
        .giveBackDelivery(subjectID: id, kind: kind, error: reason, waitMicroseconds: wait, userID: userID),
        on: reactor)
    } else {
      try await pool.query(
        .giveBackEvent(subjectID: id, kind: kind, error: reason, waitMicroseconds: wait), on: reactor)
    }
  }

  /// Looks at no work at all: fails where looks fail for all work alike, as when a function that they call is not there.
  package func lookAtNothing(on reactor: isolated Reactor) async throws(PostgresError) {
    let nothing = LeasedWork(subject: .message(HostID(UUID())), userID: nil)
    _ = try await look(at: nothing, recipientsMax: 1, on: reactor)
  }
}
