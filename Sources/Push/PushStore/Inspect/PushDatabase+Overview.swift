internal import FoundationEssentials
internal import Postgres
internal import PushRules
package import Reactors

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
      let queues = try await look.query(.overviewQueues, on: reactor)
      let lanes = try await look.query(.overviewLanes, on: reactor)
      let parked = try await look.query(.overviewParked, on: reactor)
      let instances = try await look.query(.overviewInstances, on: reactor)
      let entries = try await look.query(.newestPushes(rowsMax: newest), on: reactor)
      return ServiceOverview(
        ledger: try LedgerFigures(ledger), queues: try QueueOverview(queues.one()),
        lanes: try lanes.map(WaitingLane.init), parked: try parked.map(ParkedWork.init),
        instances: try instances.map(LiveInstance.init), newest: try entries.map(LedgerEntry.init))
    }
  }
}

extension LedgerFigures {
  fileprivate init(_ rows: PostgresRows) throws {
    self.init()
    for row in rows {
      let counts = try Counts(row)
      switch try row.decode("level", as: Int.self) {
      case 3:
        span = .microseconds(try row.decode("span_us", as: Int64.self))
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
    guard let median = try row.duration(median), let percentile = try row.duration(percentile) else { return nil }
    return Latency(median: median, percentile99: percentile)
  }
}

extension LedgerFigures.Counts {
  fileprivate init(_ row: PostgresRow) throws {
    sent = try row.decode("sent")
    held = try row.decode("held")
    skipped = try row.decode("skipped")
    failed = try row.decode("failed")
  }
}

extension QueueOverview {
  fileprivate init(_ row: PostgresRow) throws {
    inbox = try row.decode("inbox")
    oldestAge = try row.duration("oldest_us")
    holds = try row.decode("holds")
    nextHold = try row.duration("next_hold_us")
    retries = try row.decode("retries")
    nextRetry = try row.duration("next_retry_us")
    hasMoreWork = try row.decode("has_more")
    parked = try row.decode("parked")
  }
}

extension WaitingLane {
  fileprivate init(_ row: PostgresRow) throws {
    name = try row.decode("lane")
    waiting = try row.decode("waiting")
    oldestAge = .microseconds(try row.decode("oldest_us", as: Int64.self))
    reason = try row.decode("reason")
  }
}

extension ParkedWork {
  fileprivate init(_ row: PostgresRow) throws {
    parkedAt = try row.decode("parked_us")
    subject = PushSubject(id: try row.decode("subject_id"), kind: try row.decode("kind"))
    userID = try row.decode("user_id")
    reason = try row.decode("reason")
  }
}

extension LiveInstance {
  fileprivate init(_ row: PostgresRow) throws {
    host = try row.decode("host")
    processID = try row.decode("pid")
    version = try row.decode("version")
    startedAt = try row.decode("started_us")
    seenAge = .microseconds(try row.decode("seen_age_us", as: Int64.self))
  }
}

extension LedgerEntry {
  init(_ row: PostgresRow) throws {
    id = try row.decode("id")
    enqueuedAt = try row.decode("enqueued_us")
    subjectID = try row.decode("subject_id")
    kind = try row.decode("push_type")
    userID = try row.decode("user_id")
    decision = try row.decode("decision")
    reason = try row.decode("reason")
    heldUntil = try row.decode("held_until_us")
    way = try row.duration("latency_us")
    devicesAccepted = try row.decode("devices_accepted")
  }
}
