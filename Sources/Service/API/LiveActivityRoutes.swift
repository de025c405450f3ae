internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// `/v1/live-activities`: other servers start, update and end Live Activities, and ask what became of them. Apps say which tokens
/// ActivityKit gives them, and what they have started and ended themselves.
enum LiveActivityRoutes {
  /// Pushes of one Live Activity in an answer.
  private static let updatesMax = 100

  private static let unknown = ProblemDetails(.notFound, detail: "There is no such Live Activity.")

  static func add(to group: inout RouteGroup) {
    addForServers(to: &group)
    addForApps(to: &group)
    addStartTokens(to: &group)
  }

  private static func addForServers(to group: inout RouteGroup) {
    let path = "/v1/live-activities"
    group.addForServices(.post, path, hasContent: true) { request, services, reactor in
      let start = try RequestContent.decode(
        LiveActivityStartBody.self, from: request.body, idTypes: services.idTypes
      ).request
      let outcome = try await services.callers.start(start, on: reactor)
      services.pipeline.wake(.webhook, on: reactor)
      return try answer(outcome, about: start.id, created: outcome == .started)
    }
    group.addForServices(.get, path + "/{id}") { request, services, reactor in
      let (id, user) = (try id(in: request), try request.namedUser(services))
      let found = try await services.operators.liveActivity(id, of: user, updatesMax: updatesMax, on: reactor)
      guard let found else { throw unknown }
      return HTTPServerResponse(json: LiveActivityExplanation(found).json)
    }
    group.addForServices(.patch, path + "/{id}", hasContent: true) { request, services, reactor in
      let body: LiveActivityUpdateBody = try RequestContent.decode(from: request.body)
      let id = try id(in: request)
      let outcome = try await services.callers.updateLiveActivity(
        id, of: try request.namedUser(services), state: body.state, alert: body.alert, priority: body.priority,
        relevance: body.relevance, on: reactor)
      services.pipeline.wake(.webhook, on: reactor)
      return try answer(outcome, about: id)
    }
    group.addForServices(.post, path + "/{id}/end", hasContent: true) { request, services, reactor in
      let body: LiveActivityEndBody = try RequestContent.decode(from: request.body)
      let id = try id(in: request)
      let outcome = try await services.callers.endLiveActivity(
        id, of: try request.namedUser(services), state: body.state, alert: body.alert, reason: "server", on: reactor)
      services.pipeline.wake(.webhook, on: reactor)
      return try answer(outcome == .ended ? .updated : outcome, about: id)
    }
    group.addForServices(.delete, path) { request, services, reactor in
      guard let user = try request.namedUser(services) else {
        throw ProblemDetails.content("user_id", "user_id is missing.")
      }
      let ended = try await services.callers.endLiveActivities(of: user, on: reactor)
      services.pipeline.wake(.webhook, on: reactor)
      return HTTPServerResponse(["ended": .count(ended)])
    }
  }

  private static func addForApps(to group: inout RouteGroup) {
    let path = "/v1/live-activities/{id}"
    group.addForClients(.put, path, hasContent: true, load: .write) { user, request, services, reactor in
      let body: LiveActivityAnnouncement = try RequestContent.decode(from: request.body)
      let start = body.start(of: try id(in: request), by: user)
      _ = try answer(try await services.callers.start(start, on: reactor), about: start.id)
      return HTTPServerResponse(status: .noContent)
    }
    group.addForClients(.delete, path, load: .write) { user, request, services, reactor in
      let outcome = try await services.callers.endLiveActivity(
        try id(in: request), of: user, reason: "app", isPushed: false, on: reactor)
      guard outcome != .unknown else { throw unknown }
      return HTTPServerResponse(status: .noContent)
    }
    group.addForClients(.put, path + "/token", hasContent: true, load: .write) { user, request, services, reactor in
      let id = try id(in: request)
      let token = try RequestContent.decode(LiveActivityTokenBody.self, from: request.body).token
      guard try await services.callers.put(token, ofLiveActivity: id, of: user, on: reactor) else { throw unknown }
      services.pipeline.wake(.webhook, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
  }

  private static func addStartTokens(to group: inout RouteGroup) {
    let path = "/v1/devices/{token}/push-to-start/{type}"
    group.addForClients(.put, path, hasContent: true, load: .write) { user, request, services, reactor in
      var token = try RequestContent.decode(LiveActivityTokenBody.self, from: request.body).token
      token.deviceToken = try DeviceRoutes.token(in: request)
      let isKnown = try await services.callers.put(
        token, startingType: request.parameter("type"), of: user, on: reactor)
      guard isKnown else { throw ProblemDetails(.notFound, detail: "There is no such type.") }
      return HTTPServerResponse(status: .noContent)
    }
    group.addForClients(.delete, path, load: .write) { user, request, services, reactor in
      try await services.callers.removeStartToken(
        of: try DeviceRoutes.token(in: request), type: request.parameter("type"), of: user, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
  }

  fileprivate static let idDemand = "must be 1 to \(idBytesMax) visible characters"
  /// Of ids, which servers and apps choose.
  fileprivate static let idBytesMax = 128

  /// That of a request's path.
  private static func id(in request: HTTPServerRequest) throws(ProblemDetails) -> String {
    let id = request.parameter("id")
    guard id.isVisibleASCII(upTo: idBytesMax) else { throw .content("id", "id \(idDemand).") }
    return id
  }

  /// The answer to a request that changes one.
  private static func answer(
    _ outcome: LiveActivityOutcome, about id: String, created: Bool = false
  ) throws(ProblemDetails) -> HTTPServerResponse {
    switch outcome {
    case .started, .exists, .updated, .alreadyEnded:
      return HTTPServerResponse(status: created ? .created : .ok, ["id": .string(id)])
    case .taken: throw ProblemDetails(.conflict, detail: "Another Live Activity has this id.")
    case .ended: throw ProblemDetails(.conflict, detail: "The Live Activity has ended.")
    case .unknownType: throw .unprocessable("type", "type is not the name of a known type.")
    case .refused(let reason): throw ProblemDetails.content(nil, reason + ".")
    case .unknown: throw unknown
    }
  }
}

private struct LiveActivityStartBody: Decodable {
  let request: LiveActivityStartRequest

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("id", "type", "attributes", "state", "alert", "user_id")
    let id = try body.decodeText("id", LiveActivityRoutes.idDemand) {
      $0.isVisibleASCII(upTo: LiveActivityRoutes.idBytesMax)
    }
    var request = LiveActivityStartRequest(
      id: id ?? UUID().uuidString.lowercased(), userID: try body.decodeID(\.users, forKey: "user_id"),
      type: try body.decode(String.self, forKey: "type"))
    request.attributes = try body.decodeDocument("attributes")
    request.state = try body.decodeDocument("state")
    request.alert = try body.decodeDocument("alert")
    self.request = request
  }
}

private struct LiveActivityUpdateBody: Decodable {
  let state: String
  let alert: String?
  let priority: Int?
  let relevance: Double?

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("state", "alert", "priority", "relevance_score")
    state = String(decoding: try body.decode(PayloadObject.self, forKey: "state").encoded(), as: UTF8.self)
    alert = try body.decodeDocument("alert")
    priority = try body.decodeIfPresent(Int.self, forKey: "priority")
    try body.require(priority.map([5, 10].contains) ?? true, "priority", "must be 5 or 10")
    relevance = try body.decodeIfPresent(Double.self, forKey: "relevance_score")
    try body.require(relevance.map { abs($0) <= 1e300 } ?? true, "relevance_score", "must be a smaller number")
  }
}

/// The end; nothing of it is required.
private struct LiveActivityEndBody: Decodable {
  let state: String?
  let alert: String?

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("state", "alert")
    state = try body.decodeDocument("state")
    alert = try body.decodeDocument("alert")
  }
}

/// What an app says of a Live Activity that it has started.
private struct LiveActivityAnnouncement: Decodable {
  private let type: String
  private let attributes: String?
  private let state: String?

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("type", "attributes", "state")
    type = try body.decode(String.self, forKey: "type")
    attributes = try body.decodeDocument("attributes")
    state = try body.decodeDocument("state")
  }

  func start(of id: String, by user: HostID) -> LiveActivityStartRequest {
    var start = LiveActivityStartRequest(id: id, userID: user, type: type)
    (start.attributes, start.state, start.isPushed) = (attributes, state, false)
    return start
  }
}

private struct LiveActivityTokenBody: Decodable {
  /// `deviceToken` is empty where the app has not said it.
  let token: LiveActivityToken

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("token", "app", "environment", "device_token")
    let text = try body.decode(String.self, forKey: "token")
    try body.require((try? DeviceToken(text)) != nil, "token", DeviceRoutes.tokenDemand)
    let deviceToken = try body.decodeText("device_token", DeviceRoutes.tokenDemand) { (try? DeviceToken($0)) != nil }
    token = LiveActivityToken(
      token: text.lowercased(), deviceToken: deviceToken?.lowercased() ?? "", app: try body.decodeApp(),
      environment: try body.decodeEnvironment())
  }
}

extension Members {
  /// An object as JSON text; nil when it is absent or null.
  fileprivate func decodeDocument(_ key: Key) throws -> String? {
    try decodeIfPresent(PayloadObject.self, forKey: key).map { String(decoding: $0.encoded(), as: UTF8.self) }
  }
}
