public import Postgres
public import PushKinds
public import Reactors

// When users were active; see db/functions/activity.sql.
extension PushDatabase {
  /// Notes that users are active now. A user is written at most once in five minutes.
  public func noteActivity(of users: [HostID], on reactor: isolated Reactor) async throws(PostgresError) {
    _ = try await pool.query(.noteActivity(userIDs: users), on: reactor)
  }

  /// How engaged all users are, of whom any activity is known.
  ///
  /// One ``OperatorLook``.
  /// - Parameter period: whose sessions are counted, and at whose end users are classed; microseconds since 1970.
  /// - Throws: ``PostgresError``.
  public func engagement(in period: Range<Int64>, on reactor: isolated Reactor) async throws -> EngagementFigures {
    try await look(on: reactor) { look in
      let call = StatementCall.engagement(fromMicroseconds: period.lowerBound, toMicroseconds: period.upperBound)
      return try EngagementFigures(await look.query(call, on: reactor).one(), period: period)
    }
  }
}

/// How engaged users are at the end of a period.
public struct EngagementFigures: Equatable, Sendable {
  /// The period, microseconds since 1970.
  public let period: Range<Int64>
  /// Users whose last activity is at most a day ago.
  public let activeUsers: Int
  /// At most three days.
  public let recentUsers: Int
  /// At most seven days.
  public let lapsedUsers: Int
  /// Longer.
  public let churnRiskUsers: Int
  /// Users of whom any activity is known.
  public let totalUsers: Int
  /// Sessions of theirs that began in the period.
  public let sessions: Int
  /// How long these lasted in all.
  public let sessionSeconds: Double

  init(_ row: PostgresRow, period: Range<Int64>) throws(PostgresError) {
    self.period = period
    totalUsers = try row.decode("total_users")
    activeUsers = try row.decode("active_users")
    recentUsers = try row.decode("recent_users")
    lapsedUsers = try row.decode("lapsed_users")
    churnRiskUsers = try row.decode("churn_risk_users")
    sessions = try row.decode("sessions")
    sessionSeconds = try row.decode("session_seconds")
  }

  /// Active users over all; 0 for nobody.
  public var engagementRate: Double { Self.ratio(Double(activeUsers), totalUsers) }

  /// Sessions of a user in a week of the period; 0 for nobody.
  public var sessionsPerWeek: Double {
    let weeks = Double(period.upperBound - period.lowerBound) / (7 * 86_400 * 1_000_000)
    return Self.ratio(Double(sessions) / weeks, totalUsers)
  }

  /// Seconds of a session; 0 without one.
  public var secondsPerSession: Double { Self.ratio(sessionSeconds, sessions) }

  private static func ratio(_ amount: Double, _ count: Int) -> Double { count == 0 ? 0 : amount / Double(count) }
}
