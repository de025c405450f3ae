internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// What an app says that its user does: looks at a surface or leaves it (`last-seen`), reads, opens a push, is active; and
/// `GET /v1/engagement`, what that says of all users.
enum ActivityRoutes {
  static func add(to group: inout RouteGroup) {
    let signs: [(HTTPRequest.Method, PresenceSign)] = [(.put, .looking), (.delete, .left)]
    for (method, sign) in signs {
      group.addForClients(method, "/v1/conversations/{id}/last-seen") { user, request, services, reactor in
        let surface = SurfaceID.conversation(try request.id("id", of: services.idTypes.conversations))
        return try await note(sign, of: SurfaceView(of: surface, by: user), services, on: reactor)
      }
      group.addForClients(method, "/v1/surfaces/{kind}/{id}/last-seen") { user, request, services, reactor in
        let kind = request.parameter("kind")
        guard PushSubject.canBeKind(kind) else {
          throw ProblemDetails.content("kind", "kind must match ^[a-z][a-z0-9_]{0,62}$.")
        }
        let surface = SurfaceID(kind: kind, id: try request.id("id", of: services.idTypes.conversations))
        return try await note(sign, of: SurfaceView(of: surface, by: user), services, on: reactor)
      }
    }
    group.addForClients(.post, "/v1/conversations/{id}/read", hasContent: true, load: .write) {
      user, request, services, reactor in
      try await read(request, by: user, services, on: reactor)
    }
    group.addForClients(.post, "/v1/pushes/{push_log_id}/opened") { user, request, services, reactor in
      let id = try request.uuid("push_log_id")
      guard try await services.callers.recordOpening(id, by: user, on: reactor) else {
        throw ProblemDetails(.notFound, detail: "There is no such push.")
      }
      services.activity.note(user, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
    group.addForClients(.post, "/v1/activity") { user, _, services, reactor in
      try await services.activity.write(user, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
    group.addForServices(.get, "/v1/engagement") { request, services, reactor in
      let period = try engagementPeriod(request.head, now: TimeText.now)
      return HTTPServerResponse(try await services.counts.engagement(in: period, on: reactor).document)
    }
  }

  private static func note(
    _ sign: PresenceSign, of view: SurfaceView, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    try await services.presence.note(sign, of: view, on: reactor).requireViewer(of: view.surface)
    services.activity.note(view.userID, on: reactor)
    return HTTPServerResponse(status: .noContent)
  }

  private static func read(
    _ request: HTTPServerRequest, by user: HostID, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let types = services.idTypes
    let body =
      request.body.isEmpty ? ReadBody() : try RequestContent.decode(from: request.body, idTypes: types)
    let report = ReadReport(
      conversationID: try request.id("id", of: types.conversations), userID: user, upToMessageID: body.upToMessageID,
      deviceToken: body.deviceToken)
    switch try await services.callers.read(report, isSynced: services.isReadSyncEnabled, on: reactor) {
    case .refused(let standing):
      try standing.requireViewer(of: .conversation(report.conversationID))
      preconditionFailure("a viewer's report is not refused")
    case .unknownMessage:
      throw ProblemDetails(
        .notFound, detail: "The conversation has no such message.",
        extensions: [("field", .string("up_to_message_id"))])
    case .marked(let count, let badge, let syncWait):
      services.activity.note(user, on: reactor)
      if let syncWait { services.pipeline.expectWork(after: syncWait) }
      return HTTPServerResponse(["badge": .count(badge), "read": .count(count)])
    }
  }

  /// Microseconds of a week, and of the longest period.
  private static let (week, periodMax): (Int64, Int64) = (7 * 86_400 * 1_000_000, 366 * 86_400 * 1_000_000)

  /// The period that is asked for: a week that ends now, unless parameters say otherwise; in microseconds since 1970.
  private static func engagementPeriod(_ head: RequestHead, now: Int64) throws(ProblemDetails) -> Range<Int64> {
    let query = try StrictQuery(head, known: ["from", "to"])
    let end = try query.instant("to") ?? now
    let start = try query.instant("from") ?? end - week
    guard end <= now + ReportTime.leadMax else { throw .content("to", "to must not be in the future.") }
    guard start < end else { throw .content("from", "from must be before to.") }
    guard end - start <= periodMax else { throw .content("from", "from must be at most 366 days before to.") }
    return start..<end
  }
}

extension StrictQuery {
  fileprivate func instant(_ name: String) throws(ProblemDetails) -> Int64? {
    guard let text = self[name] else { return nil }
    guard let instant = InstantText.microseconds(of: text) else {
      throw .content(name, "\(name) must be a time such as 2026-01-31T20:15:00Z, in this millennium.")
    }
    return instant
  }
}

extension SurfaceStanding {
  /// Refuses a user who takes no part: 404 for a surface that does not exist, 403 for one that does.
  fileprivate func requireViewer(of surface: SurfaceID) throws(ProblemDetails) {
    let noun = surface.kind == SurfaceID.conversationKind ? "conversation" : "surface"
    switch self {
    case .viewer: break
    case .unknown: throw ProblemDetails(.notFound, detail: "There is no such \(noun).")
    case .stranger: throw ProblemDetails(.forbidden, detail: "The user takes no part in this \(noun).")
    case .busy:
      throw ProblemDetails(
        .serviceUnavailable, detail: "The \(noun) is being changed. The request can be sent again.",
        fields: [.retryAfter: "1"])
    case .unwritable: throw ProblemDetails.missingRight
    }
  }
}

/// What an app has read. All of it may be left out.
struct ReadBody: Decodable {
  var upToMessageID: HostID?
  var deviceToken: String?

  init() {}

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("up_to_message_id", "device_token")
    upToMessageID = try body.decodeIDIfPresent(\.messages, forKey: "up_to_message_id")
    deviceToken = try body.decodeText("device_token", "must be \(DeviceToken.demand)") { text in
      // Whether it can be a token at all, as `DeviceToken` says.
      (2...DeviceToken.digitsMax).contains(text.utf8.count) && text.utf8.count.isMultiple(of: 2)
        && text.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }
  }
}

extension DeviceToken {
  static var demand: String { "2 to \(digitsMax) hexadecimal digits, an even number" }
}

extension EngagementFigures {
  fileprivate var document: PayloadObject {
    [
      "active_users": .count(activeUsers), "avg_session_seconds": .decimal(secondsPerSession),
      "avg_sessions_per_week": .decimal(sessionsPerWeek), "churn_risk_users": .count(churnRiskUsers),
      "engagement_rate": .decimal(engagementRate), "from": .instant(period.lowerBound),
      "lapsed_users": .count(lapsedUsers), "recent_users": .count(recentUsers), "to": .instant(period.upperBound),
      "total_users": .count(totalUsers),
    ]
  }
}
