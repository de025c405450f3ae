package import Channels
internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// What browsers and Android apps register with; nil where the channel is not set up.
package struct TargetOffers: Sendable {
  let webPush: WebPushOffer?
  let takesAndroid: Bool

  package init(webPush: WebPushOffer? = nil, takesAndroid: Bool = false) {
    self.webPush = webPush
    self.takesAndroid = takesAndroid
  }
}

/// What browsers need to know, and what is needed to answer them.
package struct WebPushOffer: Sendable {
  let publicKey: String
  let hosts: WebPushHosts
  let links: WebPushLinks

  /// - Parameters:
  ///   - publicKey: as `VAPIDSigner.publicKeyText`.
  ///   - hosts: the push services that browsers may name.
  ///   - links: where a click leads.
  package init(publicKey: String, hosts: WebPushHosts, links: WebPushLinks) {
    self.publicKey = publicKey
    self.hosts = hosts
    self.links = links
  }
}

/// `/v1/web-push/…` and `/v1/fcm/registrations`: browsers and Android apps register for a user, and log the user out.
enum TargetRoutes {
  /// - Parameter targetsMax: targets of a channel that a user keeps, the last registered ones.
  static func add(to group: inout RouteGroup, _ offers: TargetOffers, targetsMax: Int) {
    if let offer = offers.webPush { addWebPush(to: &group, offer, targetsMax) }
    if offers.takesAndroid { addAndroid(to: &group, targetsMax) }
  }

  private static func addWebPush(to group: inout RouteGroup, _ offer: WebPushOffer, _ targetsMax: Int) {
    let key = HTTPServerResponse(["public_key": .string(offer.publicKey)])
    group.add { routes in
      routes.add(.get, "/v1/web-push/key", bodyBytesMax: RouteGroup.bodyBytesMax, immediate: { _, _ in key })
    }
    let (path, tokens) = ("/v1/web-push/subscriptions", group.workers)
    group.addForWorkers(
      .put, path, hasContent: true, load: .write,
      // Of a worker whose browser has replaced its subscription.
      handler: { former, request, services, reactor in
        let (target, _, token) = try subscription(in: request, offer, tokens)
        let isKnown = try await services.callers.renew(
          target, replacing: former.digest, targetsMax: targetsMax, on: reactor)
        guard isKnown else { throw ProblemDetails.unknownSubscription }
        return token.answer(nil)
      },
      client: { user, request, services, reactor in
        let (target, owner, token) = try subscription(in: request, offer, tokens)
        let outcome = try await register(target, of: user, targetsMax, services, on: reactor)
        guard outcome != .ended else {
          throw ProblemDetails(
            .gone, detail: "The push service has ended this subscription: end it in the browser, and subscribe anew.",
            extensions: [("field", .string("endpoint"))])
        }
        return token.answer(owner.ignored(by: outcome))
      })
    group.addForClients(.delete, path, hasContent: true, load: .write) { user, request, services, reactor in
      let endpoint = try RequestContent.decode(EndpointBody.self, from: request.body).endpoint
      // As it was stored, if it can be one.
      let address = (try? WebPushEndpoint(endpoint, among: offer.hosts))?.url ?? endpoint
      try await services.callers.remove(PushTarget(.webPush, address: address), of: user, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
  }

  private static func subscription(
    in request: HTTPServerRequest, _ offer: WebPushOffer, _ tokens: WorkerTokens
  ) throws -> (RegisteredTarget, TargetOwner, FetchToken) {
    let body: SubscriptionBody = try RequestContent.decode(from: request.body)
    let token = FetchToken(text: tokens.make())
    var target = RegisteredTarget(try body.target(among: offer), of: body.owner)
    target.fetchDigest = token.digest
    target.expiresAt = body.expiresAt
    return (target, body.owner, token)
  }

  private static func addAndroid(to group: inout RouteGroup, _ targetsMax: Int) {
    let path = "/v1/fcm/registrations"
    group.addForClients(.put, path, hasContent: true, load: .write) { user, request, services, reactor in
      let body: RegistrationBody = try RequestContent.decode(from: request.body)
      var target = RegisteredTarget(PushTarget(.fcm, address: body.token, app: body.app), of: body.owner)
      target.sealingKey = body.sealingKey
      return body.owner.answer(to: try await register(target, of: user, targetsMax, services, on: reactor))
    }
    group.addForClients(.delete, path, hasContent: true, load: .write) { user, request, services, reactor in
      let body: RegistrationBody = try RequestContent.decode(from: request.body)
      try await services.callers.remove(PushTarget(.fcm, address: body.token), of: user, on: reactor)
      return HTTPServerResponse(status: .noContent)
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

extension RegisteredTarget {
  fileprivate init(_ target: PushTarget, of owner: TargetOwner) {
    self.init(target)
    (locale, timeZone, content) = (owner.locale, owner.timeZone, owner.content)
  }
}

/// The proof by which a service worker, which has no user's token, asks for the newest push of its own subscription.
struct FetchToken {
  let text: String

  /// What a browser is told.
  /// - Parameter ignored: the members that were left out; nil for none.
  func answer(_ ignored: PayloadValue?) -> HTTPServerResponse {
    var answer: PayloadObject = ["fetch_token": .string(text)]
    answer["ignored"] = ignored
    return HTTPServerResponse(answer)
  }

  /// What is stored of it: who reads the database cannot ask in the browser's name.
  var digest: String { SHA256.hash(Array(text.utf8)).hexadecimal(bytes: 32) }
}

extension ProblemDetails {
  static let unknownSubscription = ProblemDetails(.unauthorized, detail: "There is no such subscription.")
}

/// What a browser's `PushSubscription.toJSON()` says, with the person's locale and zone. `expiration_time` is a text in place of its
/// number `expirationTime`.
private struct SubscriptionBody: Decodable {
  private struct Keys: Codable {
    let p256dh: String
    let auth: String
    /// The application server key that the browser subscribed with.
    var key: String?
  }

  let owner: TargetOwner
  /// Microseconds since 1970; nil for never.
  let expiresAt: Int64?
  private let endpoint: String
  private let keys: Keys

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(
      "endpoint", "keys", "expirationTime", "expiration_time", besides: TargetOwner.names)
    endpoint = try body.decode(String.self, forKey: "endpoint")
    keys = try body.decode(Keys.self, forKey: "keys")
    let milliseconds = try body.decodeIfPresent(Double.self, forKey: "expirationTime")
    try body.require(
      milliseconds.map(Self.times.contains) != false, "expirationTime", "must be milliseconds since 1970")
    let text = try body.decodeText("expiration_time", "must be a time as RFC 3339 writes it") {
      InstantText.microseconds(of: $0) != nil
    }
    expiresAt = text.flatMap(InstantText.microseconds) ?? milliseconds.map { Int64($0) * 1000 }
    owner = try TargetOwner(body)
  }

  /// Milliseconds since 1970, up to the year 9999.
  private static let times = 0...253_402_300_799_999.0

  func target(among offer: WebPushOffer) throws(ProblemDetails) -> PushTarget {
    do throws(WebPushError) {
      let endpoint = try WebPushEndpoint(endpoint, among: offer.hosts)
      _ = try WebPushKeys(p256dh: keys.p256dh, auth: keys.auth)
      var stored = keys
      stored.key = offer.publicKey
      let document = (try? JSONEncoder().encode(stored)).map { String(decoding: $0, as: UTF8.self) }
      return PushTarget(.webPush, address: endpoint.url, keys: document)
    } catch {
      let field =
        switch error.code {
        case .publicKeyMalformed: "keys.p256dh"
        case .authenticationSecretMalformed: "keys.auth"
        default: "endpoint"
        }
      throw .content(field, "\(field) cannot be used: \(error.message).")
    }
  }
}

/// Which subscription ends.
private struct EndpointBody: Decodable {
  let endpoint: String

  init(from decoder: any Decoder) throws {
    let text = try decoder.members("endpoint").decodeText("endpoint", "must be an endpoint") {
      (1...WebPushEndpoint.bytesMax).contains($0.utf8.count)
    }
    endpoint = text ?? ""
  }
}

/// What an Android app says of itself.
private struct RegistrationBody: Decodable {
  /// The registration token or Firebase Installation ID.
  let token: String
  /// The application's id.
  let app: String?
  let sealingKey: String?
  let owner: TargetOwner

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("token", "app", "sealing_key", besides: TargetOwner.names)
    token = try body.decode(String.self, forKey: "token")
    try body.require(
      token.isVisibleASCII(upTo: PushTarget.addressBytesMax), "token",
      "must be 1 to \(PushTarget.addressBytesMax) visible ASCII characters")
    app = try body.decodeText("app", "must be the id of an application") { (1...255).contains($0.utf8.count) }
    sealingKey = try body.decodeSealingKey()
    owner = try TargetOwner(body)
  }
}

/// `/v1/notifications/…`: what the service worker of a browser asks and reports. Its proof is the token of its subscription,
/// because a worker that a push has woken has no user's token. Strangers' tokens are refused by ``WorkerTokens``.
enum WorkerRoutes {
  static func add(to group: inout RouteGroup, _ offer: WebPushOffer) {
    group.addForWorkers(.get, "/v1/notifications/latest") { token, _, services, reactor in
      let (isKnown, latest) = try await services.callers.latestPush(fetchDigest: token.digest, on: reactor)
      guard isKnown else { throw ProblemDetails.unknownSubscription }
      guard let document = try latest.flatMap({ try document(of: $0, offer) })
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
  private static func document(of latest: LatestPush, _ offer: WebPushOffer) throws -> [UInt8]? {
    guard let push = try latest.content.alert(about: latest.subject), let alert = push.alert else { return nil }
    let outgoing = OutgoingPush(
      push, to: PushTarget(.webPush, address: ""), of: latest.userID, about: latest.subject,
      enqueuedAt: latest.enqueuedAt, unread: latest.badge, expiresAt: 0)
    return try WebPushNotification(alert, of: outgoing, links: offer.links).fitted()
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
