internal import FoundationEssentials
internal import Postgres
public import Reactors

extension PushDatabase {
  /// What the counts of an overview end at; one more stands for more.
  public static let overviewCountMax = PushStatements.countedRows

  /// How the service fares now.
  ///
  /// One ``OperatorLook``: several statements, each at a moment of its own.
  /// - Parameter newest: how many of the newest pushes are listed.
  /// - Throws: ``PostgresError``.
  public func overview(newest: Int, on reactor: isolated Reactor) async throws -> ServiceOverview {
    try await look(on: reactor) { look in
      let ledger = try await look.query(PushStatements.overviewLedger, on: reactor)
      let queues = try await look.query(PushStatements.overviewQueues, on: reactor)
      let lanes = try await look.query(PushStatements.overviewLanes, on: reactor)
      let parked = try await look.query(PushStatements.overviewParked, on: reactor)
      let instances = try await look.query(PushStatements.overviewInstances, on: reactor)
      let entries = try await look.query(PushStatements.newestPushes, [newest], on: reactor)
      return ServiceOverview(
        ledger: try LedgerFigures(ledger), queues: try QueueOverview(queues.one()),
        lanes: try lanes.map(WaitingLane.init), parked: try parked.map(ParkedWork.init),
        instances: try instances.map(LiveInstance.init), newest: try entries.map(LedgerEntry.init))
    }
  }
}

extension LedgerFigures {
  /// The columns of ``PushStatements/overviewLedger``.
  private enum Column: Int {
    case span, level, slice, decision, reason, sent, held, skipped, failed, median, percentile99
    case sentLastMinute, medianLastMinute, percentile99LastMinute
  }

  fileprivate init(_ rows: PostgresRows) throws {
    self.init()
    for row in rows {
      let counts = try Counts(row)
      switch try row.decode(Column.level.rawValue, as: Int64.self) {
      case 3:
        span = .microseconds(try row.decode(Column.span.rawValue, as: Int64.self))
        self.counts = counts
        latency = try Self.latency(row, .median, .percentile99)
        sentLastMinute = Int(try row.decode(Column.sentLastMinute.rawValue, as: Int64.self))
        latencyLastMinute = try Self.latency(row, .medianLastMinute, .percentile99LastMinute)
      case 1:
        let age = Int(try row.decode(Column.slice.rawValue, as: Int64.self))
        slices[slices.count - 1 - age] = counts
      default:
        shares.append(
          Share(
            decision: try row.decode(Column.decision.rawValue), reason: try row.decode(Column.reason.rawValue),
            count: counts.total))
      }
    }
    shares.sort { ($1.count, $0.reason ?? "") < ($0.count, $1.reason ?? "") }
  }

  private static func latency(_ row: PostgresRow, _ median: Column, _ percentile: Column) throws -> Latency? {
    guard let median = try row.decode(median.rawValue, as: Int64?.self),
      let percentile = try row.decode(percentile.rawValue, as: Int64?.self)
    else { return nil }
    return Latency(median: .microseconds(median), percentile99: .microseconds(percentile))
  }
}

extension LedgerFigures.Counts {
  fileprivate init(_ row: PostgresRow) throws {
    // In the order of the columns, from that of what was sent on.
    func count(_ place: Int) throws -> Int { Int(try row.decode(place, as: Int64.self)) }
    sent = try count(5)
    held = try count(6)
    skipped = try count(7)
    failed = try count(8)
  }
}

extension QueueOverview {
  fileprivate init(_ row: PostgresRow) throws {
    inbox = Int(try row.decode(0, as: Int64.self))
    oldestAge = try row.duration(1)
    holds = Int(try row.decode(2, as: Int64.self))
    nextHold = try row.duration(3)
    retries = Int(try row.decode(4, as: Int64.self))
    nextRetry = try row.duration(5)
    hasMoreWork = try row.decode(6)
    parked = Int(try row.decode(7, as: Int64.self))
  }
}

extension WaitingLane {
  fileprivate init(_ row: PostgresRow) throws {
    name = try row.decode(0)
    waiting = Int(try row.decode(1, as: Int64.self))
    oldestAge = .microseconds(try row.decode(2, as: Int64.self))
    reason = try row.decode(3)
  }
}

extension ParkedWork {
  fileprivate init(_ row: PostgresRow) throws {
    parkedAt = try row.decode(0)
    subject = PushSubject(id: try row.decode(1), kind: try row.decode(2))
    userID = try row.decode(3)
    reason = try row.decode(4)
  }
}

extension LiveInstance {
  fileprivate init(_ row: PostgresRow) throws {
    host = try row.decode(0)
    processID = Int(try row.decode(1, as: Int64.self))
    version = try row.decode(2)
    startedAt = try row.decode(3)
    seenAge = .microseconds(try row.decode(4, as: Int64.self))
  }
}

extension LedgerEntry {
  init(_ row: PostgresRow) throws {
    id = try row.decode(0)
    enqueuedAt = try row.decode(1)
    subjectID = try row.decode(2)
    kind = try row.decode(3)
    userID = try row.decode(4)
    decision = try row.decode(5)
    reason = try row.decode(6)
    heldUntil = try row.decode(7)
    way = try row.duration(8)
    devicesAccepted = Int(try row.decode(9, as: Int64.self))
  }
}

extension PostgresRow {
  /// Microseconds as a duration; nil for a null.
  fileprivate func duration(_ column: Int) throws -> Duration? {
    try decode(column, as: Int64?.self).map { .microseconds($0) }
  }
}
