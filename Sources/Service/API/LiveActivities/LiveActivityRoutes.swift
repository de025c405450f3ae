internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// `/v1/live-activities`: other servers start, update and end Live Activities, and ask what became of them.
enum LiveActivityRoutes {
  /// Pushes of one Live Activity in an answer.
  private static let updatesMax = 100

  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    group.addForServices(.post, "/v1/live-activities", hasContent: true) { request, reactor in
      let services = services.value(on: reactor)
      let body = try RequestContent.decode(
        LiveActivityStartBody.self, from: request.body, idTypes: services.idTypes)
      let start = body.request
      let outcome = try await services.callers.start(start, on: reactor)
      services.pipeline.wake(.webhook, on: reactor)
      return try answer(outcome, about: start.id, created: outcome == .started)
    }
    group.addForServices(.get, "/v1/live-activities/{id}") { request, reactor in
      let services = services.value(on: reactor)
      let (id, user) = (try LiveActivityID.read(request), try user(request, services))
      let found = try await services.operators.liveActivity(id, of: user, updatesMax: updatesMax, on: reactor)
      guard let record = found else {
        throw ProblemDetails(.notFound, detail: "There is no such Live Activity.")
      }
      return HTTPServerResponse(json: LiveActivityExplanation(record).json)
    }
    group.addForServices(.patch, "/v1/live-activities/{id}", hasContent: true) { request, reactor in
      let services = services.value(on: reactor)
      let body = try RequestContent.decode(LiveActivityUpdateBody.self, from: request.body)
      let id = try LiveActivityID.read(request)
      let outcome = try await services.callers.updateLiveActivity(
        id, of: try user(request, services), state: body.state, alert: body.alert, priority: body.priority,
        relevance: body.relevance, on: reactor)
      services.pipeline.wake(.webhook, on: reactor)
      return try answer(outcome, about: id)
    }
    group.addForServices(.post, "/v1/live-activities/{id}/end", hasContent: true) { request, reactor in
      let services = services.value(on: reactor)
      let body = try RequestContent.decode(LiveActivityEndBody.self, from: request.body)
      let id = try LiveActivityID.read(request)
      let outcome = try await services.callers.endLiveActivity(
        id, of: try user(request, services), state: body.state, alert: body.alert, reason: "server", on: reactor)
      services.pipeline.wake(.webhook, on: reactor)
      return try answer(outcome == .ended ? .updated : outcome, about: id)
    }
    group.addForServices(.delete, "/v1/live-activities") { request, reactor in
      let services = services.value(on: reactor)
      guard let user = try user(request, services) else {
        throw ProblemDetails.content("user_id", "user_id is missing.")
      }
      let ended = try await services.callers.endLiveActivities(of: user, on: reactor)
      services.pipeline.wake(.webhook, on: reactor)
      return HTTPServerResponse(json: LiveActivitiesEnded(ended: ended).json)
    }
  }

  /// The query's `user_id`: whose it is, also where an app has started it.
  private static func user(
    _ request: HTTPServerRequest, _ services: PushServices
  ) throws(ProblemDetails) -> HostID? {
    try StrictQuery(request.head, known: ["user_id"]).id("user_id", of: services.idTypes.users)
  }

  /// The answer to a request that changes one.
  static func answer(
    _ outcome: LiveActivityOutcome, about id: String, created: Bool = false
  ) throws(ProblemDetails) -> HTTPServerResponse {
    switch outcome {
    case .started, .exists, .updated, .alreadyEnded:
      return HTTPServerResponse(status: created ? .created : .ok, json: LiveActivityAnswer(id: id).json)
    case .taken: throw ProblemDetails(.conflict, detail: "Another Live Activity has this id.")
    case .ended: throw ProblemDetails(.conflict, detail: "The Live Activity has ended.")
    case .unknownType: throw .unprocessable("type", "type is not the name of a known type.")
    case .refused(let reason): throw ProblemDetails.content(nil, reason + ".")
    case .unknown: throw ProblemDetails(.notFound, detail: "There is no such Live Activity.")
    }
  }
}

private struct LiveActivitiesEnded: JSONAnswer {
  let ended: Int
}

/// Which one a request was about.
private struct LiveActivityAnswer: JSONAnswer {
  let id: String
}
