internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// `POST /v1/activity`: an app says that its user is active. `GET /v1/engagement`: what that says of all users.
enum ActivityRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    group.addForClients(.post, "/v1/activity") { user, _, reactor in
      try await services.value(on: reactor).activity.write(user, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
    group.addForServices(.get, "/v1/engagement") { request, reactor in
      let period = try EngagementQuery(request.head, now: TimeText.now).period
      let figures = try await services.value(on: reactor).counts.engagement(in: period, on: reactor)
      return HTTPServerResponse(json: EngagementAnswer(figures).json)
    }
  }
}

/// The period that is asked for: a week that ends now, unless parameters say otherwise.
struct EngagementQuery: Equatable {
  /// Microseconds of a week, and of the longest period.
  private static let (week, lengthMax): (Int64, Int64) = (7 * 86_400 * 1_000_000, 366 * 86_400 * 1_000_000)

  /// Microseconds since 1970.
  let period: Range<Int64>

  /// - Parameter now: microseconds since 1970.
  init(_ head: RequestHead, now: Int64) throws(ProblemDetails) {
    let query = try StrictQuery(head, known: ["from", "to"])
    let end = try Self.instant(query, "to") ?? now
    let start = try Self.instant(query, "from") ?? end - Self.week
    guard end <= now + ReportTime.leadMax else { throw .content("to", "to must not be in the future.") }
    guard start < end else { throw .content("from", "from must be before to.") }
    guard end - start <= Self.lengthMax else { throw .content("from", "from must be at most 366 days before to.") }
    period = start..<end
  }

  private static func instant(_ query: StrictQuery, _ name: String) throws(ProblemDetails) -> Int64? {
    guard let text = query[name] else { return nil }
    guard let instant = InstantText.microseconds(of: text) else {
      throw .content(name, "\(name) must be a time such as 2026-01-31T20:15:00Z, in this millennium.")
    }
    return instant
  }
}

struct EngagementAnswer: JSONAnswer {
  let from: String
  let to: String
  let totalUsers: Int
  let activeUsers: Int
  let recentUsers: Int
  let lapsedUsers: Int
  let churnRiskUsers: Int
  let engagementRate: Double
  let avgSessionsPerWeek: Double
  let avgSessionSeconds: Double

  init(_ figures: EngagementFigures) {
    from = TimeText.instant(figures.period.lowerBound)
    to = TimeText.instant(figures.period.upperBound)
    totalUsers = figures.totalUsers
    activeUsers = figures.activeUsers
    recentUsers = figures.recentUsers
    lapsedUsers = figures.lapsedUsers
    churnRiskUsers = figures.churnRiskUsers
    engagementRate = figures.engagementRate
    avgSessionsPerWeek = figures.sessionsPerWeek
    avgSessionSeconds = figures.secondsPerSession
  }
}
