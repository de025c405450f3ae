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

/// The ids of Live Activities, which servers and apps choose.
enum LiveActivityID {
  static let bytesMax = 128

  /// Visible characters of ASCII, so that it can be written in paths and logs.
  static func isWellFormed(_ text: String) -> Bool {
    (1...bytesMax).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// That of a request's path.
  static func read(_ request: HTTPServerRequest) throws(ProblemDetails) -> String {
    let id = request.parameter("id")
    guard isWellFormed(id) else { throw .content("id", "id must be 1 to \(bytesMax) visible characters.") }
    return id
  }
}

struct LiveActivityStartBody: Decodable {
  let request: LiveActivityStartRequest

  private enum Key: String, CodingKey, CaseIterable {
    case id, type, attributes, state, alert
    case userID = "user_id"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    let id = try body.decodeText(
      .id, "must be 1 to \(LiveActivityID.bytesMax) visible characters", LiveActivityID.isWellFormed)
    var request = LiveActivityStartRequest(
      id: id ?? UUID().uuidString.lowercased(), userID: try body.decodeID(\.users, forKey: .userID),
      type: try body.decode(String.self, forKey: .type))
    request.attributes = try body.decodeDocument(.attributes)
    request.state = try body.decodeDocument(.state)
    request.alert = try body.decodeDocument(.alert)
    self.request = request
  }
}

struct LiveActivityUpdateBody: Decodable {
  let state: String
  let alert: String?
  let priority: Int?
  let relevance: Double?

  private enum Key: String, CodingKey, CaseIterable {
    case state, alert, priority
    case relevance = "relevance_score"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    state = String(decoding: try body.decode(PayloadObject.self, forKey: .state).encoded(), as: UTF8.self)
    alert = try body.decodeDocument(.alert)
    priority = try body.decodeIfPresent(Int.self, forKey: .priority)
    try body.require(priority.map([5, 10].contains) ?? true, .priority, "must be 5 or 10")
    relevance = try body.decodeIfPresent(Double.self, forKey: .relevance)
    try body.require(relevance.map { abs($0) <= 1e300 } ?? true, .relevance, "must be a smaller number")
  }
}

/// The end; nothing of it is required.
struct LiveActivityEndBody: Decodable {
  let state: String?
  let alert: String?

  private enum Key: String, CodingKey, CaseIterable {
    case state, alert
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    state = try body.decodeDocument(.state)
    alert = try body.decodeDocument(.alert)
  }
}

/// What an app says of a Live Activity that it has started.
struct LiveActivityAnnouncement: Decodable {
  let type: String
  let attributes: String?
  let state: String?

  private enum Key: String, CodingKey, CaseIterable {
    case type, attributes, state
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    type = try body.decode(String.self, forKey: .type)
    attributes = try body.decodeDocument(.attributes)
    state = try body.decodeDocument(.state)
  }
}

struct LiveActivityTokenBody: Decodable {
  /// `deviceToken` is empty where the app has not said it.
  let token: LiveActivityToken

  private enum Key: String, CodingKey, CaseIterable {
    case token, app, environment
    case deviceToken = "device_token"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    let text = try body.decode(String.self, forKey: .token)
    try body.require((try? DeviceToken(text)) != nil, .token, DeviceRoutes.tokenDemand)
    let deviceToken = try body.decodeText(.deviceToken, DeviceRoutes.tokenDemand) { (try? DeviceToken($0)) != nil }
    token = LiveActivityToken(
      token: text.lowercased(), deviceToken: deviceToken?.lowercased() ?? "",
      app: try body.decodeApp(.app), environment: try body.decodeEnvironment(.environment))
  }
}

extension KeyedDecodingContainer {
  /// An object as JSON text; nil when it is absent or null.
  func decodeDocument(_ key: Key) throws -> String? {
    try decodeIfPresent(PayloadObject.self, forKey: key).map { String(decoding: $0.encoded(), as: UTF8.self) }
  }
}
