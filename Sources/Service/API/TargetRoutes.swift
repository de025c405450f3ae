package import Channels
internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Logging
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// What browsers and Android apps register with; nil where the channel is not set up.
package struct TargetOffers: Sendable {
  package let webPush: WebPushOffer?

  package let takesAndroid: Bool

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
  static func add(
    to group: inout RouteGroup, _ services: PerReactor<PushServices>, _ offers: TargetOffers, targetsMax: Int
  ) {
    if let offer = offers.webPush { addWebPush(to: &group, services, offer, targetsMax) }
    if offers.takesAndroid { addAndroid(to: &group, services, targetsMax) }
  }

  private static func addWebPush(
    to group: inout RouteGroup, _ services: PerReactor<PushServices>, _ offer: WebPushOffer, _ targetsMax: Int
  ) {
    let key = (["public_key": .string(offer.publicKey)] as PayloadObject).encoded()
    let logger = group.logger
    group.add { routes in
      routes.add(
        .get, "/v1/web-push/key", bodyBytesMax: RouteGroup.bodyBytesMax,
        immediate: { _, _ in HTTPServerResponse(json: key) })
    }
    let tokens = group.workers
    group.addForWorkers(
      .put, "/v1/web-push/subscriptions", hasContent: true, load: .write,
      // Of a worker whose browser has replaced its subscription.
      handler: { former, request, reactor in
        let (target, _, token) = try subscription(in: request, offer, tokens)
        let callers = services.value(on: reactor).callers
        guard try await callers.renew(target, replacing: former.digest, targetsMax: targetsMax, on: reactor) else {
          throw ProblemDetails.unknownSubscription
        }
        return token.answer(nil)
      },
      client: { user, request, reactor in
        let (target, owner, token) = try subscription(in: request, offer, tokens)
        let outcome = try await register(target, of: user, targetsMax, services.value(on: reactor), logger, on: reactor)
        guard outcome != .ended else {
          throw ProblemDetails(
            .gone, detail: "The push service has ended this subscription: end it in the browser, and subscribe anew.",
            extensions: [("field", .string("endpoint"))])
        }
        return token.answer(owner.ignored(by: outcome))
      })
    group.addForClients(.delete, "/v1/web-push/subscriptions", hasContent: true, load: .write) {
      user, request, reactor in
      let body = try RequestContent.decode(EndpointBody.self, from: request.body)
      // As it was stored, if it can be one.
      let address = (try? WebPushEndpoint(body.endpoint, among: offer.hosts))?.url ?? body.endpoint
      let target = PushTarget(.webPush, address: address)
      try await services.value(on: reactor).callers.remove(target, of: user, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
  }

  private static func subscription(
    in request: HTTPServerRequest, _ offer: WebPushOffer, _ tokens: WorkerTokens
  ) throws -> (RegisteredTarget, TargetOwner, FetchToken) {
    let body = try RequestContent.decode(SubscriptionBody.self, from: request.body)
    let token = FetchToken(text: tokens.make())
    var target = RegisteredTarget(try body.target(among: offer))
    target.fetchDigest = token.digest
    target.expiresAt = body.expiresAt
    body.owner.fill(&target)
    return (target, body.owner, token)
  }

  private static func addAndroid(
    to group: inout RouteGroup, _ services: PerReactor<PushServices>, _ targetsMax: Int
  ) {
    let logger = group.logger
    group.addForClients(.put, "/v1/fcm/registrations", hasContent: true, load: .write) { user, request, reactor in
      let body = try RequestContent.decode(RegistrationBody.self, from: request.body)
      var target = RegisteredTarget(PushTarget(.fcm, address: body.token, app: body.app))
      target.sealingKey = body.sealingKey
      body.owner.fill(&target)
      return body.owner.answer(
        to: try await register(target, of: user, targetsMax, services.value(on: reactor), logger, on: reactor))
    }
    group.addForClients(.delete, "/v1/fcm/registrations", hasContent: true, load: .write) { user, request, reactor in
      let body = try RequestContent.decode(RegistrationBody.self, from: request.body)
      let target = PushTarget(.fcm, address: body.token)
      try await services.value(on: reactor).callers.remove(target, of: user, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
  }

  private static func register(
    _ target: RegisteredTarget, of user: HostID, _ targetsMax: Int, _ services: PushServices, _ logger: Logger,
    on reactor: isolated Reactor
  ) async throws -> RegistrationOutcome {
    let outcome = try await services.callers.register(target, of: user, targetsMax: targetsMax, on: reactor)
    if outcome == .registered || outcome == .registeredWithoutZone {
      await services.tellSlots(of: user, logger, on: reactor)
    }
    return outcome
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
    return HTTPServerResponse(json: answer.encoded())
  }

  /// What is stored of it: who reads the database cannot ask in the browser's name.
  var digest: String { SHA256.hash(Array(text.utf8)).hexadecimal(bytes: 32) }
}

extension ProblemDetails {
  static let unknownSubscription = ProblemDetails(.unauthorized, detail: "There is no such subscription.")
}

/// What a registration says of the person. A device tells its locale and its zone as its system has them. What nobody knows of that is
/// left out, and the answer says so: the registration is worth more.
struct TargetOwner: Decodable, Equatable {
  let locale: String?
  let timeZone: String?
  let content: String?
  private(set) var ignored: [String] = []

  private enum Key: String, CodingKey, CaseIterable {
    case locale, content
    case timeZone = "time_zone"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: Key.self)
    let toldLocale = try body.decodeIfPresent(String.self, forKey: .locale)
    let toldZone = try body.decodeIfPresent(String.self, forKey: .timeZone)
    locale = toldLocale.flatMap(LanguageTag.read)
    timeZone = toldZone.flatMap { TimeZoneName.isWellFormed($0) ? $0 : nil }
    content = try body.decodeContent(.content)
    if toldLocale != nil, locale == nil { ignored.append(Key.locale.rawValue) }
    if toldZone != nil, timeZone == nil { ignored.append(Key.timeZone.rawValue) }
  }

  /// The members that a registration has left out, as JSON; nil for none.
  func ignored(by outcome: RegistrationOutcome) -> PayloadValue? {
    let names = ignored + (outcome == .registeredWithoutZone ? [Key.timeZone.rawValue] : [])
    return names.isEmpty ? nil : .array(names.map { .string($0) })
  }

  /// The answer of a registration that says nothing else.
  func answer(to outcome: RegistrationOutcome) -> HTTPServerResponse {
    guard let ignored = ignored(by: outcome) else { return HTTPServerResponse(status: .noContent) }
    return HTTPServerResponse(json: (["ignored": ignored] as PayloadObject).encoded())
  }

  func fill(_ target: inout RegisteredTarget) {
    target.locale = locale
    target.timeZone = timeZone
    target.content = content
  }
}

/// What a browser's `PushSubscription.toJSON()` says, with the person's locale and zone. `expiration_time` is a text in place of its
/// number `expirationTime`.
struct SubscriptionBody: Decodable {
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

  private enum Key: String, CodingKey, CaseIterable {
    case endpoint, keys, locale, content, expirationTime
    case expiresAt = "expiration_time"
    case timeZone = "time_zone"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    endpoint = try body.decode(String.self, forKey: .endpoint)
    keys = try body.decode(Keys.self, forKey: .keys)
    let milliseconds = try body.decodeIfPresent(Double.self, forKey: .expirationTime)
    try body.require(
      milliseconds.map(Self.times.contains) != false, .expirationTime, "must be milliseconds since 1970")
    expiresAt =
      try body.decodeText(.expiresAt, "must be a time as RFC 3339 writes it") {
        InstantText.microseconds(of: $0) != nil
      }.flatMap(InstantText.microseconds) ?? milliseconds.map { Int64($0) * 1000 }
    owner = try TargetOwner(from: decoder)
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
struct EndpointBody: Decodable {
  let endpoint: String

  private enum Key: String, CodingKey, CaseIterable { case endpoint }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    endpoint =
      try body.decodeText(.endpoint, "must be an endpoint") { (1...WebPushEndpoint.bytesMax).contains($0.utf8.count) }
      ?? ""
  }
}

/// What an Android app says of itself.
struct RegistrationBody: Decodable {
  /// The registration token or Firebase Installation ID.
  let token: String
  /// The application's id.
  let app: String?
  let sealingKey: String?
  let owner: TargetOwner

  private enum Key: String, CodingKey, CaseIterable {
    case token, app, locale, content
    case timeZone = "time_zone"
    case sealingKey = "sealing_key"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    token = try body.decode(String.self, forKey: .token)
    guard (1...PushTarget.addressBytesMax).contains(token.utf8.count),
      token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw ProblemDetails.content(
        "token", "token must be 1 to \(PushTarget.addressBytesMax) visible ASCII characters.")
    }
    app = try body.decodeText(.app, "must be the id of an application") { (1...255).contains($0.utf8.count) }
    sealingKey = try body.decodeSealingKey(.sealingKey)
    owner = try TargetOwner(from: decoder)
  }
}

/// `/v1/notifications/…`: what the service worker of a browser asks and reports. Its proof is the token of its subscription,
/// because a worker that a push has woken has no user's token. Strangers' tokens are refused by ``WorkerTokens``.
enum WorkerRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>, _ offer: WebPushOffer) {
    group.addForWorkers(.get, "/v1/notifications/latest") { token, _, reactor in
      let callers = services.value(on: reactor).callers
      let (isKnown, latest) = try await callers.latestPush(fetchDigest: token.digest, on: reactor)
      guard isKnown else { throw ProblemDetails.unknownSubscription }
      guard let document = try latest.flatMap({ try document(of: $0, offer) })
      else { return HTTPServerResponse(status: .noContent) }
      return HTTPServerResponse(
        status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: document)
    }
    group.addForWorkers(.post, "/v1/notifications/events", hasContent: true) { token, request, reactor in
      let body = try RequestContent.decode(WorkerEventsBody.self, from: request.body)
      let services = services.value(on: reactor)
      let user = try await services.callers.recordOpenings(body.openings, fetchDigest: token.digest, on: reactor)
      guard let user else { throw ProblemDetails.unknownSubscription }
      if !body.openings.isEmpty { services.activity.note(user, on: reactor) }
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
struct WorkerEventsBody: Decodable {
  static let eventsMax = 100

  private struct Event: Decodable {
    let logID: UUID
    let isOpening: Bool

    private enum Key: String, CodingKey, CaseIterable {
      case event, action, at
      case logID = "push_log_id"
    }

    init(from decoder: any Decoder) throws {
      let body = try decoder.members(Key.self)
      let id = try body.decodeText(.logID, "must be a UUID") { UUID(hyphenated: $0) != nil }
      guard let id = id.flatMap(UUID.init(hyphenated:)) else {
        throw DecodingError.keyNotFound(Key.logID, .init(codingPath: decoder.codingPath, debugDescription: ""))
      }
      logID = id
      let event = try body.decodeText(.event, "must be opened, action or dismissed") {
        ["opened", "action", "dismissed"].contains($0)
      }
      isOpening = event != "dismissed"
    }
  }

  /// Rows of the ledger whose pushes were opened, by a click on the notification or on one of its buttons.
  let openings: [UUID]

  private enum Key: String, CodingKey, CaseIterable { case events }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    try body.requireFew(.events, Self.eventsMax, "elements")
    let events = try body.decode([Event].self, forKey: .events)
    openings = events.filter(\.isOpening).map(\.logID)
  }
}
