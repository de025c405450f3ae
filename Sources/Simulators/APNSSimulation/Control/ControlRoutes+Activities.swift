internal import HTTP1
internal import HTTPTypes
internal import SimulationControl

extension ControlRoutes {
  /// A megabyte with ordinary states. A script that wants more says so.
  private static let activitiesShownDefault = 100

  private struct ActivityList: Encodable {
    let activities: [ActivityDocument]
    let total: Int
    let dropped: [String: Int]
    let drops: [ActivityDropLog.Entry]
  }

  private struct UpdateToken: Encodable {
    let token: String
  }

  /// The conditions of a list. All must hold; nil is no condition.
  private struct ActivityQuery {
    let device: String?
    let activity: String?
    let limit: Int
    let history: Int

    init(_ request: HTTPServerRequest) throws(ProblemDetails) {
      device = request.head.queryValue("device")
      activity = request.head.queryValue("activity")
      limit = min(try request.queryNumber("limit") ?? activitiesShownDefault, ActivityBook.activitiesMax)
      history = min(try request.queryNumber("history") ?? .max, ActivityHistory.entriesMax)
    }

    func matches(_ shown: SimulatedActivity) -> Bool {
      if let device, shown.device != device { return false }
      if let activity, shown.identifier != activity { return false }
      return true
    }
  }

  func addActivities(to routes: inout HTTPRoutes) {
    let service = service
    routes.add(.get, "/activities") { request, _ in
      try ControlAnswer.json(Self.activities(ActivityQuery(request), of: service))
    }
    routes.add(.delete, "/activities") { _, _ in
      service.forgetActivities()
      return ControlAnswer.done
    }
    routes.add(.delete, "/activities/{activity}") { request, _ in
      guard service.dismissActivity(request.parameter("activity")) else { throw ProblemDetails(.notFound) }
      return ControlAnswer.done
    }
    routes.add(.post, "/activities/{activity}/token") { request, _ in
      try ControlAnswer.json(Self.renew(request, service))
    }
  }

  /// The newest that match, oldest first.
  private static func activities(_ query: ActivityQuery, of service: SimulatedService) -> ActivityList {
    let (all, drops) = service.withActivities { ($0.all, $0.drops) }
    let now = service.clock.now
    let shown = all.filter(query.matches)
    return ActivityList(
      activities: shown.suffix(query.limit).map { ActivityDocument($0, at: now, history: query.history) },
      total: shown.count, dropped: drops.counts.byWord, drops: drops.entries)
  }

  private static func renew(_ request: HTTPServerRequest, _ service: SimulatedService) throws -> UpdateToken {
    let wanted = request.body.isEmpty ? nil : try RenewalDocument.read(request.body).token
    if let wanted, !PushInquiry.isDeviceToken(wanted) {
      throw ProblemDetails.unfit("a device token is an even number of hexadecimal digits")
    }
    guard let token = service.renewToken(of: request.parameter("activity"), to: wanted) else {
      throw ProblemDetails(.notFound, detail: "no such activity runs")
    }
    return UpdateToken(token: token)
  }
}
