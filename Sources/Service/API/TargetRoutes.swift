package import Channels
internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Logging
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
