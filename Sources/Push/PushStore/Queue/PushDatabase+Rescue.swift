public import FoundationEssentials
public import Postgres
public import Reactors

/// A leased piece of work that has not been looked at.
public struct LeasedWork: Equatable, Sendable {
  /// What it is about.
  public let subject: PushSubject

  /// Whom a delivery is for; nil for an event.
  public let userID: UUID?
}

// Work that the usual claim and record cannot deal with.
extension PushDatabase {
  /// Leases work without looking at it: for when one piece that cannot be looked at makes every claim fail.
  public func lease(_ limits: ClaimLimits, on reactor: isolated Reactor) async throws(PostgresError) -> [LeasedWork] {
    var work: [LeasedWork] = []
    for row in try await pool.query(.lease(limits), on: reactor) {
      let subject = PushSubject(id: try row.decode("subject_id"), kind: try row.decode("kind"))
      work.append(LeasedWork(subject: subject, userID: try row.decode("user_id")))
    }
    return work
  }

  /// Looks at leased work.
  /// - Returns: nil when it is gone.
  public func look(
    at work: LeasedWork, recipientsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PushEvent? {
    let (id, kind) = (work.subject.id, work.subject.kind)
    let (call, columns): (StatementCall, _) =
      if let userID = work.userID {
        (.lookAtDelivery(subjectID: id, kind: kind, userID: userID), ClaimRow.lookAtDelivery)
      } else {
        (.lookAtEvent(subjectID: id, kind: kind, recipientsMax: recipientsMax), ClaimRow.lookAtEvent)
      }
    let rows = try await pool.query(call, on: reactor)
    return try events(from: rows, columns: columns, recipientsMax: recipientsMax).first
  }

  /// Notes why leased work could not be looked at; it stands in the parked row if that never works.
  public func note(
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
  public func giveBack(
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
  public func lookAtNothing(on reactor: isolated Reactor) async throws(PostgresError) {
    let nothing = LeasedWork(
      subject: .message(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))), userID: nil)
    _ = try await look(at: nothing, recipientsMax: 1, on: reactor)
  }

  /// Sets a claimed event aside whose record the database refuses.
  /// - Returns: whether it was still ours.
  @discardableResult
  public func park(
    _ event: PushEvent, because error: PostgresError, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let userID = event.origin == .delivery ? event.recipients.first?.userID : nil
    let call = StatementCall.parkRefused(
      subjectID: event.subject.id, kind: event.subject.kind, userID: userID, attempts: event.attempts,
      reason: error.description)
    return try await count(call, on: reactor) > 0
  }

  /// Sets aside what was claimed too often without a record.
  /// - Returns: how much was.
  public func parkExhausted(
    rescuesMax: Int, rowsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    try await count(.parkExhausted(rescuesMax: rescuesMax, rowsMax: rowsMax), on: reactor)
  }

  /// Enqueues events that a trigger could not write to the inbox.
  /// - Returns: how many there were.
  public func enqueueMissed(rowsMax: Int, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await count(.enqueueMissed(failuresMax: rowsMax), on: reactor)
  }

  /// Frees what has waited for its lane for longer than its life, so that it is recorded as expired.
  /// - Returns: how much was.
  public func releaseExpired(
    life: Duration, rowsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    try await count(.releaseExpired(lifeMicroseconds: life.wholeMicroseconds, rowsMax: rowsMax), on: reactor)
  }

  /// Deletes messages that were older than a message's life when they were enqueued.
  /// - Returns: how many there were.
  public func discardTooOld(
    life: Duration, rowsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    try await count(.discardTooOld(lifeMicroseconds: life.wholeMicroseconds, rowsMax: rowsMax), on: reactor)
  }

  /// Releases holds that a host's transaction could not.
  /// - Returns: how often that was.
  public func releaseQueued(rowsMax: Int, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await count(.releaseQueued(releasesMax: rowsMax), on: reactor)
  }

  /// Makes new events available that a clock ahead of this one has dated.
  public func bringForward(on reactor: isolated Reactor) async throws(PostgresError) {
    try await pool.query(.bringForward, on: reactor)
  }

  /// Makes those of the holds due about which something was learnt while they were being recorded.
  public func review(
    _ holds: [RecordedHold], on reactor: isolated Reactor
  ) async throws(PostgresError) -> ReviewedHolds {
    let row = try await pool.query(.reviewHolds(holds), on: reactor).one()
    return ReviewedHolds(
      released: try row.decode("released"), oldestRunning: try row.decode("oldest_running"),
      nextToBegin: try row.decode("next_to_begin"))
  }

  private func count(
    _ call: StatementCall, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    try await pool.query(call, on: reactor).one().decode(0)
  }
}

extension StatementCall {
  static func reviewHolds(_ holds: [RecordedHold]) -> StatementCall {
    .reviewHolds(
      subjectIDs: holds.map(\.subject.id), kinds: holds.map(\.subject.kind), userIDs: holds.map(\.userID))
  }
}

/// What a review of holds has found.
public struct ReviewedHolds: Equatable, Sendable {
  /// Holds that were made due.
  public let released: Int

  /// The oldest transaction that was running and may change something; the next to begin when none was. Transactions are
  /// numbered in the order in which they first write.
  public let oldestRunning: Int64

  /// The number of the next transaction.
  public let nextToBegin: Int64
}

/// A hold that was just recorded.
public struct RecordedHold: Equatable, Sendable {
  /// What is held.
  public let subject: PushSubject

  /// Whom it is for.
  public let userID: UUID

  /// Names a hold.
  public init(subject: PushSubject, userID: UUID) {
    self.subject = subject
    self.userID = userID
  }
}
