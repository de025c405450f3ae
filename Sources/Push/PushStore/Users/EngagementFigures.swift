internal import Postgres

/// How engaged users are at the end of a period.
package struct EngagementFigures: Equatable, Sendable {
  /// The period, microseconds since 1970.
  package let period: Range<Int64>
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

  package init(period: Range<Int64>) {
    self.period = period
  }

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
