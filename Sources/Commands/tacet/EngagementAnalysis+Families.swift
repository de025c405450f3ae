import PrometheusMetrics
import PushStore

extension EngagementAnalysis {
  /// Of the time of the analysis; the same for every service on one database.
  var families: [MetricFamily] {
    [
      users,
      MetricFamily(
        "tacet_engagement_rate", "Active users over all users at the newest analysis; 0 for nobody.", .gauge,
        .number(figures.engagementRate)),
      MetricFamily(
        "tacet_engagement_sessions_per_week", "Sessions of a user, on average, in the week before the newest analysis.",
        .gauge, .number(figures.sessionsPerWeek)),
      MetricFamily(
        "tacet_engagement_session_seconds", "How long a session of that week lasted on average.", .gauge,
        .number(figures.secondsPerSession)),
      MetricFamily(
        "tacet_engagement_analysed_timestamp_seconds", "When engagement was analysed last.", .gauge,
        .number(Double(analysedAt) / 1_000_000)),
    ]
  }

  private var users: MetricFamily {
    var family = MetricFamily(
      "tacet_engagement_users", "Users at the newest analysis, by the time since their last activity.", .gauge)
    for (name, count) in figures.classes { family.add(.integer(Int64(count)), ["class": name]) }
    return family
  }
}
