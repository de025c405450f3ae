package import FoundationEssentials
internal import Postgres
package import PushRules
package import Reactors

/// How the service fares at one moment: what an operator looks at first.
package struct ServiceOverview: Equatable, Sendable {
  package var ledger: LedgerFigures
  /// Counted to one more than ``PushDatabase/overviewCountMax``.
  package var queues: QueueFigures
  /// Routes that pushes wait for, fifty at the most.
  package var lanes: [WaitingLane]
  /// What was set aside last, the newest first, twenty at the most.
  package var parked: [ParkedWork]
  /// Processes that were seen in the last minute and have not stopped, the last one seen first, fifty at the most.
  package var instances: [RunningInstance]
  /// The newest pushes, the newest first.
  package var newest: [LedgerEntry]
}

/// The outcomes of the last hour's pushes, or of as much of the hour as the newest 20 000 cover.
package struct LedgerFigures: Equatable, Sendable {
  /// How many recipients each decision concerned.
  package struct Counts: Equatable, Sendable, Decodable {
    package var sent = 0, held = 0, skipped = 0, failed = 0

    package var total: Int { sent + held + skipped + failed }
  }

  /// From the commit to APNs' acceptance, of pushes that were sent at the first look; nil when there was none.
  package struct Latency: Equatable, Sendable {
    package let median: Duration
    package let percentile99: Duration
  }

  /// How many had this outcome.
  package struct Share: Equatable, Sendable {
    package let decision: OutcomeDecision
    /// Nil for a plain success.
    package let reason: String?
    /// Recipients.
    package let count: Int
  }

  /// How far back it reaches: an hour, unless the newest rows cover less.
  package var span = Duration.seconds(3600)
  /// Of the whole span.
  package var counts = Counts()
  /// Of the whole span.
  package var latency: Latency?
  /// Pushes sent in the last minute, or in the span where that is shorter.
  package var sentLastMinute = 0
  package var latencyLastMinute: Latency?
  /// The span in sixty equal parts, the oldest first.
  package var slices = [Counts](repeating: Counts(), count: 60)
  /// By decision and reason, the most frequent first.
  package var shares: [Share] = []
}

/// A route to APNs that pushes wait for.
package struct WaitingLane: Equatable, Sendable, Decodable {
  /// App and environment.
  package let name: String
  /// Pushes; 10 001 means more than 10 000.
  package let waiting: Int
  /// How long ago the oldest of them was committed.
  package let oldestAge: Duration
  /// Why it waits; nil when the ledger does not say.
  package let reason: String?
}

/// A process of the service that has not said that it stops.
package struct RunningInstance: Equatable, Sendable, Decodable {
  /// As its log lines name it.
  package let id: String
  package let host: String
  package let processID: Int
  package let version: String
  /// When it was started; microseconds since 1970.
  package let startedAt: Int64
  /// How long ago it said that it lives.
  package let age: Duration
  /// Those of ``OwnedShards/count`` whose conversations are its own.
  package let shards: Int
}

/// Work that was set aside because it can never succeed.
package struct ParkedWork: Equatable, Sendable, Decodable {
  /// When; microseconds since 1970.
  package let parkedAt: Int64
  package let subject: PushSubject
  /// The recipient; nil for an event that could not be looked at.
  package let userID: HostID?
  package let reason: String
}

/// One row of the ledger: a push and its outcome.
package struct LedgerEntry: Equatable, Sendable, Decodable {
  package let id: UUID
  /// When the event was committed; microseconds since 1970.
  package let enqueuedAt: Int64
  /// The id of what the push is about; nil for rows without one.
  package let subjectID: HostID?
  package let kind: String
  package let userID: HostID
  package let decision: OutcomeDecision
  /// Why, nil for a plain success.
  package let reason: String?
  /// Until when it is held; microseconds since 1970, nil unless it is.
  package let heldUntil: Int64?
  /// From the commit to APNs' first acceptance, holds included; nil when there was none.
  package let way: Duration?
  package let devicesAccepted: Int
}

extension PushDatabase {
  /// What the counts of an overview end at; one more means more.
  package static let overviewCountMax = 10_000

  /// How the service fares now.
  ///
  /// One ``OperatorLook``: several statements, each at a different moment.
  /// - Parameter newest: how many of the newest pushes are listed.
  /// - Throws: ``PostgresError``.
  package func overview(newest: Int, on reactor: isolated Reactor) async throws -> ServiceOverview {
    try await look(on: reactor) { look in
      let ledger = try await look.query(.overviewLedger, on: reactor)
      let queues = try await look.query(.queueFigures(rowsMax: Self.overviewCountMax + 1, lanesMax: 0), on: reactor)
      let lanes = try await look.query(.overviewLanes, on: reactor)
      let parked = try await look.query(.overviewParked, on: reactor)
      let instances: [RunningInstance] = try await look.query(.runningInstances, on: reactor).decoded()
      let entries = try await look.query(.newestPushes(rowsMax: newest), on: reactor)
      return ServiceOverview(
        ledger: try LedgerFigures(ledger), queues: try queues.one().decoded(), lanes: try lanes.decoded(),
        parked: try parked.decoded(), instances: instances.filter { $0.age < ServiceInstance.silentFrom },
        newest: try entries.decoded())
    }
  }
}

extension LedgerFigures {
  fileprivate init(_ rows: PostgresRows) throws {
    self.init()
    for row in rows {
      let counts: Counts = try row.decoded()
      switch try row.decode("level", as: Int.self) {
      case 3:
        span = try row.decode("span_us")
        self.counts = counts
        latency = try Self.latency(row, "median_us", "percentile99_us")
        sentLastMinute = try row.decode("sent_last_minute")
        latencyLastMinute = try Self.latency(row, "median_last_minute_us", "percentile99_last_minute_us")
      case 1:
        slices[slices.count - 1 - (try row.decode("slice", as: Int.self))] = counts
      default:
        shares.append(
          Share(decision: try row.decode("decision"), reason: try row.decode("reason"), count: counts.total))
      }
    }
    shares.sort { ($1.count, $0.reason ?? "") < ($0.count, $1.reason ?? "") }
  }

  private static func latency(_ row: PostgresRow, _ median: String, _ percentile: String) throws -> Latency? {
    guard let median: Duration = try row.decode(median) else { return nil }
    return Latency(median: median, percentile99: try row.decode(percentile))
  }
}

package struct LedgerPage: Equatable, Sendable {
  /// As many as were asked for, or fewer on the last page.
  package let entries: [LedgerEntry]
  package let hasMore: Bool

  fileprivate init(_ rows: [LedgerEntry], size: Int) {
    entries = Array(rows.prefix(size))
    hasMore = rows.count > size
  }
}

/// A user who has registered a device.
package struct DeviceTokenOwner: Hashable, Sendable, Decodable {
  package let userID: HostID
  /// The first eight characters of the device token.
  package let device: String
}

extension PushDatabase {
  /// A user's pushes, the newest first.
  /// - Parameters:
  ///   - last: time and id of the last one on the page before; nil for the first page. size: rows of a page.
  /// - Throws: ``PostgresError``.
  package func pushes(
    ofUser userID: HostID, after last: (enqueuedAt: Int64, id: UUID)? = nil, size: Int, on reactor: isolated Reactor
  ) async throws -> LedgerPage {
    try await page(
      .pushesOfUser(
        userID: userID, lastEnqueuedMicroseconds: last?.enqueuedAt, lastID: last?.id, rowsMax: size + 1), size,
      on: reactor)
  }

  /// The recipients of an event, sorted by user id and kind.
  /// - Parameters:
  ///   - last: user and kind of the last one on the page before; nil for the first page. size: rows of a page.
  /// - Throws: ``PostgresError``.
  package func pushes(
    ofSubject subjectID: HostID, after last: (userID: HostID, kind: String)? = nil, size: Int,
    on reactor: isolated Reactor
  ) async throws -> LedgerPage {
    try await page(
      .pushesOfSubject(
        subjectID: subjectID, lastUserID: last?.userID, lastKind: last?.kind, rowsMax: size + 1), size, on: reactor)
  }

  /// What the ledger knows an id as; it may be both.
  /// - Parameter id: the id as a subject and as a user, as far as the types can hold it.
  /// - Throws: ``PostgresError``.
  package func meaning(
    ofID id: (subject: HostID?, user: HostID?), on reactor: isolated Reactor
  ) async throws -> (isSubject: Bool, isUser: Bool) {
    try await look(on: reactor) { look in
      let row = try await look.query(.meaningOfID(subjectID: id.subject, userID: id.user), on: reactor).one()
      return (try row.decode("is_subject"), try row.decode("is_user"))
    }
  }

  /// Who has registered a device token that begins like this, whether it still works or not.
  /// - Parameters:
  ///   - beginning: hexadecimal digits in lower case. countMax: registrations that are looked at.
  /// - Throws: ``PostgresError``.
  package func owners(
    ofDeviceToken beginning: String, countMax: Int, on reactor: isolated Reactor
  ) async throws -> [DeviceTokenOwner] {
    try await look(on: reactor) { look in
      try await look.query(.deviceTokenOwners(beginning: beginning, ownersMax: countMax), on: reactor).decoded()
    }
  }

  private func page(
    _ call: StatementCall, _ size: Int, on reactor: isolated Reactor
  ) async throws -> LedgerPage {
    try await look(on: reactor) { look in
      let rows = try await look.query(call, on: reactor)
      return LedgerPage(try rows.decoded(), size: size)
    }
  }
}
