package import Postgres
package import PushRules

/// The service's view of the database: claims, records and look-ups, each one round trip.
///
/// Belongs to one reactor, as its pool does. Every call throws ``PostgresError``; one that throws has changed nothing,
/// or, when the connection was lost while it ran, may have changed everything it was to change.
package final class PushDatabase {
  /// Settings that the sessions of the pool must have, because the plans of the statements rely on them.
  ///
  /// Without sequential scans a look-up by place or key is one, however small the planner believes a queue table to be.
  /// A sequential scan that cannot be avoided then counts as expensive enough to be compiled first, which takes longer
  /// than any of the statements.
  package static let sessionSettings = ["enable_seqscan": "off", "jit": "off"]

  /// ``sessionSettings`` and, for the sessions that claim and record, that a statement is planned once.
  ///
  /// Left to itself, the planner believes that it does better for arrays whose lengths it knows, and plans each record of a
  /// few pushes anew, which takes longer than the record and comes to the same plan. What operators look for is planned for
  /// what they have asked.
  ///
  /// Without bitmaps a limited look at the queue stops at its limit. After a vacuum of an emptied queue table the planner
  /// takes a bitmap of its whole index for cheaper, and each claim would then read every dead row.
  ///
  /// Without memoization a badge does without the set-up of a cache whose keys never come twice.
  package static let serviceSettings = sessionSettings.merging(
    ["plan_cache_mode": "force_generic_plan", "enable_bitmapscan": "off", "enable_memoize": "off"]) { $1 }

  /// How long an operator's look may take, the wait for a session included.
  package static let lookLimit = Duration.seconds(2)

  /// Up to which number unread messages are counted unless the caller says otherwise: no icon shows four digits well.
  package static let badgeMaxDefault = 999

  /// How long claims wait after the database's return. Processes record their pushes meanwhile. The server may have
  /// forgotten their claims, and a process that claims first sends again what was accepted.
  package static let recordsFirst = Duration.milliseconds(200)

  let pool: PostgresPool
  let lookLimit: Duration
  let badgeMax: Int

  /// Uses a pool with ``serviceSettings``, or with ``sessionSettings`` for operators, which stays the caller's to close.
  /// - Parameters:
  ///   - lookLimit: how long an operator's look may take.
  ///   - badgeMax: no badge is larger; the pool has ``badgeSettings(max:)``, so that counting stops there.
  package init(pool: PostgresPool, lookLimit: Duration = lookLimit, badgeMax: Int = badgeMaxDefault) {
    self.pool = pool
    self.lookLimit = lookLimit
    self.badgeMax = badgeMax
  }

  /// The types of the host's ids, as sessions have found them.
  package var idTypes: IDTypes { IDTypes(ofSessions: pool.configuration) }

  /// Whether a session has nothing to do, so that a statement would be sent behind no other.
  package var isIdle: Bool { pool.usage.idle > 0 }

  /// The session setting by which `tacet.unread_count` knows how far to count.
  package static func badgeSettings(max: Int) -> [String: String] { ["tacet.badge_max": "\(max)"] }

  func badge(_ unread: Int64) -> Int { min(Int(clamping: max(0, unread)), badgeMax) }
}

extension PostgresRow {
  /// Microseconds as a duration; nil for a null.
  func duration(_ column: String) throws(PostgresError) -> Duration? {
    try decode(column, as: Int64?.self).map { .microseconds($0) }
  }
}

extension Duration {
  /// Whole microseconds, rounded towards zero, as the database's `bigint` holds them.
  package var wholeMicroseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : product + attoseconds / 1_000_000_000_000
  }
}
