internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// `PUT` and `DELETE` of `last-seen`: an app says that its user is looking, or has left.
enum PresenceRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    let signs: [(HTTPRequest.Method, PresenceSign)] = [(.put, .looking), (.delete, .left)]
    for (method, sign) in signs {
      group.addForClients(method, "/v1/conversations/{id}/last-seen") { user, request, reactor in
        let type = services.value(on: reactor).idTypes.conversations
        let surface = SurfaceID.conversation(try request.id("id", of: type))
        return try await record(sign, of: SurfaceView(of: surface, by: user), services, on: reactor)
      }
      group.addForClients(method, "/v1/surfaces/{kind}/{id}/last-seen") { user, request, reactor in
        let type = services.value(on: reactor).idTypes.conversations
        let surface = SurfaceID(kind: try request.surfaceKind, id: try request.id("id", of: type))
        return try await record(sign, of: SurfaceView(of: surface, by: user), services, on: reactor)
      }
    }
  }

  private static func record(
    _ sign: PresenceSign, of view: SurfaceView, _ services: PerReactor<PushServices>, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let standing = try await services.value(on: reactor).presence.note(sign, of: view, on: reactor)
    try standing.requireViewer(of: view.surface)
    services.value(on: reactor).activity.note(view.userID, on: reactor)
    return HTTPServerResponse(status: .noContent)
  }
}

extension SurfaceStanding {
  /// Refuses a user who takes no part: 404 for a surface that does not exist, 403 for one that does.
  func requireViewer(of surface: SurfaceID) throws(ProblemDetails) {
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

extension HTTPServerRequest {
  /// The kind of surface that the path names: a lower-case letter, then at most 62 of `a`–`z`, `0`–`9` and `_`.
  fileprivate var surfaceKind: String {
    get throws(ProblemDetails) {
      let kind = parameter("kind")
      guard PushSubject.canBeKind(kind) else { throw .content("kind", "kind must match ^[a-z][a-z0-9_]{0,62}$.") }
      return kind
    }
  }
}

/// `POST` of `read` and of `opened`: an app says what its user has read, and which push led there.
enum ReadRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    group.addForClients(.post, "/v1/conversations/{id}/read", hasContent: true, load: .write) {
      user, request, reactor in
      let types = services.value(on: reactor).idTypes
      let body =
        request.body.isEmpty
        ? ReadBody() : try RequestContent.decode(ReadBody.self, from: request.body, idTypes: types)
      let report = ReadReport(
        conversationID: try request.id("id", of: types.conversations), userID: user, upToMessageID: body.upToMessageID,
        deviceToken: body.deviceToken)
      return try await read(report, services.value(on: reactor), on: reactor)
    }
    group.addForClients(.post, "/v1/pushes/{push_log_id}/opened") { user, request, reactor in
      let id = try request.uuid("push_log_id")
      guard try await services.value(on: reactor).callers.recordOpening(id, by: user, on: reactor) else {
        throw ProblemDetails(.notFound, detail: "There is no such push.")
      }
      services.value(on: reactor).activity.note(user, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
  }

  private static func read(
    _ report: ReadReport, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    switch try await services.callers.read(report, isSynced: services.isReadSyncEnabled, on: reactor) {
    case .refused(let standing):
      try standing.requireViewer(of: .conversation(report.conversationID))
      preconditionFailure("a viewer's report is not refused")
    case .unknownMessage:
      throw ProblemDetails(
        .notFound, detail: "The conversation has no such message.",
        extensions: [("field", .string("up_to_message_id"))])
    case .marked(let count, let badge, let syncWait):
      services.activity.note(report.userID, on: reactor)
      if let syncWait { services.pipeline.expectWork(after: syncWait, on: reactor) }
      return HTTPServerResponse(
        status: .ok, fields: [.contentType: "application/json"], body: ReadAnswer(badge: badge, read: count).json)
    }
  }
}

/// What an app sends. All of it may be left out.
struct ReadBody: Decodable {
  var upToMessageID: HostID?
  var deviceToken: String?

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case upToMessageID = "up_to_message_id"
    case deviceToken = "device_token"
  }

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.members(CodingKeys.self)
    upToMessageID = try container.decodeIDIfPresent(\.messages, forKey: .upToMessageID)
    deviceToken = try container.decodeIfPresent(String.self, forKey: .deviceToken)
    try container.require(
      deviceToken.map(Self.isToken) != false, .deviceToken,
      "must be 2 to \(DeviceToken.digitsMax) hexadecimal digits, an even number")
  }

  /// Whether a text can be a token at all, as `DeviceToken` says.
  private static func isToken(_ text: String) -> Bool {
    let digits = text.utf8
    return (2...DeviceToken.digitsMax).contains(digits.count) && digits.count.isMultiple(of: 2)
      && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
  }
}

struct ReadAnswer: JSONAnswer {
  /// Unread messages left.
  let badge: Int
  /// Messages marked now.
  let read: Int
}

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
