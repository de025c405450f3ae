internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// What apps say of Live Activities: the tokens that ActivityKit gives them, and what they have started and ended themselves.
enum LiveActivityAppRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    addStartTokens(to: &group, services)
    group.addForClients(.put, "/v1/live-activities/{id}", hasContent: true, load: .write) { user, request, reactor in
      let body = try RequestContent.decode(LiveActivityAnnouncement.self, from: request.body)
      var start = LiveActivityStartRequest(id: try LiveActivityID.read(request), userID: user, type: body.type)
      (start.attributes, start.state, start.isPushed) = (body.attributes, body.state, false)
      let store = services.value(on: reactor).callers
      let announced = start
      let outcome = try await store.start(announced, on: reactor)
      _ = try LiveActivityRoutes.answer(outcome, about: start.id)
      return HTTPServerResponse(status: .noContent)
    }
    group.addForClients(.delete, "/v1/live-activities/{id}", load: .write) { user, request, reactor in
      let outcome = try await services.value(on: reactor).callers.endLiveActivity(
        try LiveActivityID.read(request), of: user, reason: "app", isPushed: false, on: reactor)
      guard outcome != .unknown else { throw ProblemDetails(.notFound, detail: "There is no such Live Activity.") }
      return HTTPServerResponse(status: .noContent)
    }
    group.addForClients(
      .put, "/v1/live-activities/{id}/token", hasContent: true, load: .write
    ) { user, request, reactor in
      let id = try LiveActivityID.read(request)
      let body = try RequestContent.decode(LiveActivityTokenBody.self, from: request.body)
      let services = services.value(on: reactor)
      guard try await services.callers.put(body.token, ofLiveActivity: id, of: user, on: reactor) else {
        throw ProblemDetails(.notFound, detail: "There is no such Live Activity.")
      }
      services.pipeline.wake(.webhook, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
  }

  private static func addStartTokens(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    let pattern = "/v1/devices/{token}/push-to-start/{type}"
    group.addForClients(.put, pattern, hasContent: true, load: .write) { user, request, reactor in
      var token = try RequestContent.decode(LiveActivityTokenBody.self, from: request.body).token
      token.deviceToken = try DeviceRoutes.token(in: request)
      let isKnown = try await services.value(on: reactor).callers.put(
        token, startingType: request.parameter("type"), of: user, on: reactor)
      guard isKnown else { throw ProblemDetails(.notFound, detail: "There is no such type.") }
      return HTTPServerResponse(status: .noContent)
    }
    group.addForClients(.delete, pattern, load: .write) { user, request, reactor in
      try await services.value(on: reactor).callers.removeStartToken(
        of: try DeviceRoutes.token(in: request), type: request.parameter("type"), of: user, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
  }
}
