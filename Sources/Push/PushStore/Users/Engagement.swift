package import Logging
package import Postgres
package import Reactors

/// How engaged users are at the end of a period.
package struct EngagementFigures: Equatable, Sendable, Decodable {
  /// The period, microseconds since 1970.
  package var period: Range<Int64> { periodStart..<periodEnd }
  let periodStart: Int64
  let periodEnd: Int64
  /// Users whose last activity is at most a day ago.
  package var activeUsers = 0
  /// At most three days.
  package var recentUsers = 0
  /// At most seven days.
  package var lapsedUsers = 0
  /// Longer.
  package var churnRiskUsers = 0
  /// Users of whom any activity is known.
  package var totalUsers = 0
  /// Sessions of theirs that began in the period.
  package var sessions = 0
  package var sessionSeconds = 0.0
}

extension EngagementFigures {
  /// Users by class, from the most engaged: `active`, `recent`, `lapsed`, `churn_risk`.
  package var classes: [(name: String, users: Int)] {
    [("active", activeUsers), ("recent", recentUsers), ("lapsed", lapsedUsers), ("churn_risk", churnRiskUsers)]
  }

  /// Active users over all; 0 for nobody.
  package var engagementRate: Double { Self.ratio(Double(activeUsers), totalUsers) }

  /// Sessions of a user in a week of the period; 0 for nobody.
  package var sessionsPerWeek: Double {
    let weeks = Double(period.upperBound - period.lowerBound) / (7 * 86_400 * 1_000_000)
    return Self.ratio(Double(sessions) / weeks, totalUsers)
  }

  /// Seconds of a session; 0 without one.
  package var secondsPerSession: Double { Self.ratio(sessionSeconds, sessions) }

  private static func ratio(_ amount: Double, _ count: Int) -> Double { count == 0 ? 0 : amount / Double(count) }
}

// How engaged users are; see db/functions/engagement.sql.
extension PushDatabase {
  /// How long a count of all users may take. A million users take one to two seconds, eight at the end of an earlier period,
  /// and longer if their sessions are read from the disk.
  package static let countLimit = Duration.seconds(20)

  /// How long the analysis of engagement may take, or a look at a campaign's whole audience. Nothing waits for them.
  private static let analysisLimit = Duration.seconds(60)

  /// After how long without an analysis its session is closed.
  private static let analysisIdleLimit = Duration.seconds(5)

  /// A pool for what takes long: one session, opened when it is needed and closed a few seconds later.
  /// - Parameter database: how the pools of the service connect.
  package static func analysisPool(_ database: PostgresConfiguration, logger: Logger) -> PostgresPool {
    var database = database
    database.applicationName = "tacet analyses"
    database.statementLimit = analysisLimit
    database.answerLimit = analysisLimit
    return PostgresPool(
      database, size: 1, acquireLimit: database.connectLimit, opensOnDemand: true, idleLimit: analysisIdleLimit,
      logger: logger)
  }

  /// How engaged all users are, of whom any activity is known.
  ///
  /// One ``OperatorLook``.
  /// - Parameter period: whose sessions are counted, and at whose end users are classed; microseconds since 1970.
  /// - Throws: ``PostgresError``.
  package func engagement(in period: Range<Int64>, on reactor: isolated Reactor) async throws -> EngagementFigures {
    try await look(on: reactor) { look in
      let call = StatementCall.engagement(fromMicroseconds: period.lowerBound, toMicroseconds: period.upperBound)
      return try await look.query(call, on: reactor).one().decoded()
    }
  }

  /// The stored analyses, the newest first.
  ///
  /// One ``OperatorLook``.
  /// - Throws: ``PostgresError``.
  package func engagementAnalyses(rowsMax: Int, on reactor: isolated Reactor) async throws -> [EngagementAnalysis] {
    try await look(on: reactor) { look in
      try await look.query(.engagementAnalyses(rowsMax: rowsMax), on: reactor).decoded()
    }
  }

  /// The newest stored analysis; nil before the first.
  /// - Parameter limit: how long it may take, beside the wait for a session.
  package func newestEngagementAnalysis(
    within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> EngagementAnalysis? {
    try await pool.query(.engagementAnalyses(rowsMax: 1), within: limit, on: reactor).decoded(
      as: EngagementAnalysis.self
    ).first
  }

  /// Stores an analysis of engagement, if the newest is 72 hours old and no other process stores one now.
  /// - Returns: after how long to call again.
  package func analyseEngagement(on reactor: isolated Reactor) async throws(PostgresError) -> Duration {
    try await pool.query(.analyseEngagement, on: reactor).one().decode(0)
  }
}

package struct EngagementAnalysis: Equatable, Sendable, Decodable {
  /// Microseconds since 1970.
  package let analysedAt: Int64
  /// At that time, with the sessions of the seven days before.
  package let figures: EngagementFigures
}
