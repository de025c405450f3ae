internal import Callers
internal import Explanations
internal import FoundationEssentials
internal import HTTPServing
internal import HTTPTypes
internal import Postgres
internal import PushKinds
internal import PushPipeline
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
      let outcome = try await refusingDocuments { try await services.callers.start(start, on: reactor) }
      services.pipeline.wake(.webhook, on: reactor)
      return try answer(outcome, about: start.id, created: outcome == .started)
    }
    group.addForServices(.get, "/v1/live-activities/{id}") { request, reactor in
      let id = try LiveActivityID.read(request)
      let services = services.value(on: reactor)
      guard let record = try await services.operators.liveActivity(id, updatesMax: updatesMax, on: reactor) else {
        throw ProblemDetails(.notFound, detail: "There is no such Live Activity.")
      }
      return HTTPServerResponse(json: LiveActivityExplanation(record).json)
    }
    group.addForServices(.patch, "/v1/live-activities/{id}", hasContent: true) { request, reactor in
      let id = try LiveActivityID.read(request)
      let body = try RequestContent.decode(LiveActivityUpdateBody.self, from: request.body)
      return try await update(id, body, services.value(on: reactor), on: reactor)
    }
    group.addForServices(.post, "/v1/live-activities/{id}/end", hasContent: true) { request, reactor in
      let id = try LiveActivityID.read(request)
      let body = try RequestContent.decode(LiveActivityEndBody.self, from: request.body)
      return try await end(id, body, services.value(on: reactor), on: reactor)
    }
  }

  /// Gives a Live Activity its next state.
  static func update(
    _ id: String, _ body: LiveActivityUpdateBody, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let outcome = try await refusingDocuments {
      try await services.callers.updateLiveActivity(
        id, state: body.state, alert: body.alert, priority: body.priority, relevance: body.relevance, on: reactor)
    }
    services.pipeline.wake(.webhook, on: reactor)
    return try answer(outcome, about: id)
  }

  /// Ends a Live Activity.
  static func end(
    _ id: String, _ body: LiveActivityEndBody, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let outcome = try await refusingDocuments {
      try await services.callers.endLiveActivity(
        id, state: body.state, alert: body.alert, reason: "server", on: reactor)
    }
    services.pipeline.wake(.webhook, on: reactor)
    return try answer(outcome == .ended ? .updated : outcome, about: id)
  }

  /// 400 for a document that does not fit its type, with what is wrong of it.
  static func refusingDocuments<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as PostgresError where error.sqlState == "22023" && error.message.hasPrefix("tacet: ") {
      throw ProblemDetails.content(nil, error.message.dropFirst("tacet: ".count).prefix(200) + ".")
    }
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
    case .unknown: throw ProblemDetails(.notFound, detail: "There is no such Live Activity.")
    }
  }
}

/// Which one a request was about.
private struct LiveActivityAnswer: JSONAnswer {
  let id: String
}
