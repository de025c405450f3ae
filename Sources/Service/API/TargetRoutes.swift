internal import Channels
internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// Apps register the targets of their channels for a user, and log the user out.
enum TargetRoutes {
  /// - Parameter targetsMax: targets of a channel that a user keeps, the last registered ones.
  static func add(to group: inout RouteGroup, _ registrations: [TargetRegistration], targetsMax: Int) {
    for registration in registrations {
      if let (path, document) = registration.prerequisite {
        let answer = HTTPServerResponse(document)
        group.add { routes in
          routes.add(.get, path, bodyBytesMax: RouteGroup.bodyBytesMax, immediate: { _, _ in answer })
        }
      }
      if let worker = registration.worker {
        addForWorkers(to: &group, registration, worker, targetsMax)
      } else {
        group.addForClients(.put, registration.path, hasContent: true, load: .write) {
          user, request, services, reactor in
          let (target, owner) = try registered(in: request, registration.registered)
          return owner.answer(to: try await register(target, of: user, targetsMax, services, on: reactor))
        }
      }
      group.addForClients(.delete, registration.path, hasContent: true, load: .write) {
        user, request, services, reactor in
        let target =
          try registration.removed.map { removed in
            try RequestContent.read(request.body) { try removed.read($0.members(of: removed.members)) }
          } ?? registered(in: request, registration.registered).target.target
        try await services.callers.remove(target, of: user, on: reactor)
        return HTTPServerResponse(status: .noContent)
      }
    }
  }

  private static func addForWorkers(
    to group: inout RouteGroup, _ registration: TargetRegistration, _ worker: TargetRegistration.Worker,
    _ targetsMax: Int
  ) {
    let tokens = group.workers
    @Sendable func subscription(_ request: HTTPServerRequest) throws -> (RegisteredTarget, TargetOwner, FetchToken) {
      var (target, owner) = try registered(in: request, registration.registered)
      let token = FetchToken(text: tokens.make())
      target.fetchDigest = token.digest
      return (target, owner, token)
    }
    group.addForWorkers(
      .put, registration.path, hasContent: true, load: .write,
      // Of a worker whose browser has replaced its subscription.
      handler: { former, request, services, reactor in
        let (target, _, token) = try subscription(request)
        let isKnown = try await services.callers.renew(
          target, replacing: former.digest, targetsMax: targetsMax, on: reactor)
        guard isKnown else { throw ProblemDetails.unknownSubscription }
        return token.answer(nil)
      },
      client: { user, request, services, reactor in
        let (target, owner, token) = try subscription(request)
        let outcome = try await register(target, of: user, targetsMax, services, on: reactor)
        guard outcome != .ended else {
          throw ProblemDetails(
            .gone, detail: worker.ended.detail, extensions: [("field", .string(worker.ended.field))])
        }
        return token.answer(owner.ignored(by: outcome))
      })
  }

  private static func registered(
    in request: HTTPServerRequest, _ document: TargetRegistration.Document<TargetRegistration.Target>
  ) throws(ProblemDetails) -> (target: RegisteredTarget, owner: TargetOwner) {
    try RequestContent.read(request.body) { decoder in
      let body = try decoder.members(of: TargetOwner.names + document.members)
      let said = try document.read(body)
      let owner = try TargetOwner(body)
      var target = RegisteredTarget(said.target)
      (target.sealingKey, target.expiresAt) = (said.sealingKey, said.expiresAt)
      (target.locale, target.timeZone, target.content) = (owner.locale, owner.timeZone, owner.content)
      return (target, owner)
    }
  }

  private static func register(
    _ target: RegisteredTarget, of user: HostID, _ targetsMax: Int, _ services: PushServices,
    on reactor: isolated Reactor
  ) async throws -> RegistrationOutcome {
    let outcome = try await services.callers.register(target, of: user, targetsMax: targetsMax, on: reactor)
    if outcome == .registered || outcome == .registeredWithoutZone { await services.tellSlots(of: user, on: reactor) }
    return outcome
  }
}

/// The proof by which a service worker, which has no user's token, asks for the newest push of its own subscription.
struct FetchToken {
  let text: String

  /// What a browser is told.
  /// - Parameter ignored: the members that were left out; nil for none.
  func answer(_ ignored: PayloadValue?) -> HTTPServerResponse {
    HTTPServerResponse(["fetch_token": .string(text), "ignored": ignored])
  }

  /// What is stored of it: who reads the database cannot ask in the browser's name.
  var digest: String { SHA256.hash(Array(text.utf8)).hexadecimal(bytes: 32) }
}

extension ProblemDetails {
  static let unknownSubscription = ProblemDetails(.unauthorized, detail: "There is no such subscription.")
}

/// `/v1/notifications/…`: what the service worker of a browser asks and reports. Its proof is the token of its subscription,
/// because a worker that a push has woken has no user's token. Strangers' tokens are refused by ``WorkerTokens``.
enum WorkerRoutes {
  static func add(
    to group: inout RouteGroup, of channel: DeliveryChannel, _ worker: TargetRegistration.Worker
  ) {
    group.addForWorkers(.get, "/v1/notifications/latest") { token, _, services, reactor in
      let (isKnown, latest) = try await services.callers.latestPush(fetchDigest: token.digest, on: reactor)
      guard isKnown else { throw ProblemDetails.unknownSubscription }
      guard let document = try latest.flatMap({ try document(of: $0, channel, worker) })
      else { return HTTPServerResponse(status: .noContent) }
      return HTTPServerResponse(
        status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: document)
    }
    group.addForWorkers(.post, "/v1/notifications/events", hasContent: true) { token, request, services, reactor in
      let openings = try RequestContent.decode(WorkerEventsBody.self, from: request.body).openings
      let user = try await services.callers.recordOpenings(openings, fetchDigest: token.digest, on: reactor)
      guard let user else { throw ProblemDetails.unknownSubscription }
      if !openings.isEmpty { services.activity.note(user, on: reactor) }
      return HTTPServerResponse(status: .noContent)
    }
  }

  /// The document of a push; nil for one that shows nothing.
  private static func document(
    of latest: LatestPush, _ channel: DeliveryChannel, _ worker: TargetRegistration.Worker
  ) throws -> [UInt8]? {
    guard let push = try latest.content.alert(about: latest.subject), let alert = push.alert else { return nil }
    let addressee = Addressee(
      of: push, PushTarget(channel, address: ""), of: latest.userID, about: latest.subject,
      enqueuedAt: latest.enqueuedAt, unread: latest.badge, expiresAt: 0)
    return try worker.document(alert, push, addressee)
  }
}

/// What users did with notifications, as a worker reports it.
private struct WorkerEventsBody: Decodable {
  private static let eventsMax = 100

  private struct Event: Decodable {
    let logID: UUID
    let isOpening: Bool

    init(from decoder: any Decoder) throws {
      let body = try decoder.members("push_log_id", "event", "action", "at")
      let id = try body.decodeText("push_log_id", "must be a UUID") { UUID(hyphenated: $0) != nil }
      guard let id = id.flatMap(UUID.init(hyphenated:)) else {
        throw DecodingError.keyNotFound(
          MemberName("push_log_id"), .init(codingPath: decoder.codingPath, debugDescription: ""))
      }
      logID = id
      let event = try body.decodeText("event", "must be opened, action or dismissed") {
        ["opened", "action", "dismissed"].contains($0)
      }
      isOpening = event != "dismissed"
    }
  }

  /// Rows of the ledger whose pushes were opened, by a click on the notification or on one of its buttons.
  let openings: [UUID]

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("events")
    try body.requireFew("events", Self.eventsMax, "elements")
    openings = try body.decode([Event].self, forKey: "events").filter(\.isOpening).map(\.logID)
  }
}
