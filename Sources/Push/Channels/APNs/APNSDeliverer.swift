package import PushRules
package import Reactors

/// The deliverer of APNs: every app, both environments.
package final class APNSDeliverer {
  package private(set) var places: APNSPlaces

  private let sender: any APNSSender
  /// Every configured route, by what the pipeline calls it.
  private var known: [DeliveryRoute: PushRoute] = [:]
  private var names: [PushRoute: DeliveryRoute] = [:]

  package init(_ sender: any APNSSender, places: APNSPlaces) {
    self.sender = sender
    self.places = places
    learnRoutes()
  }

  /// Takes the apps that are configured from now on. The pipeline must be told: its lanes follow ``routes``.
  package func update(_ places: APNSPlaces) {
    self.places = places
    learnRoutes()
  }

  package func routes(of apps: Set<BundleIdentifier>) -> Set<DeliveryRoute> {
    Set(known.filter { apps.contains($1.app) }.keys)
  }

  private func learnRoutes() {
    let all = places.apps.keys.flatMap(PushRoute.all(of:))
    names = Dictionary(uniqueKeysWithValues: all.map { ($0, $0.delivery) })
    known = Dictionary(uniqueKeysWithValues: names.map { ($1, $0) })
  }
}

extension APNSDeliverer: PushDeliverer {
  package var channel: DeliveryChannel { .apns }

  /// Two for each app.
  package var routes: [DeliveryRoute] { Array(known.keys) }

  /// The route of the target's app and environment, or of their defaults.
  package func route(to target: PushTarget) throws(PushRequestError) -> DeliveryRoute {
    let route = try places.route(to: target)
    return names[route] ?? route.delivery
  }

  /// - Throws: ``PushRequestError`` when the host's device token is malformed.
  package func request(
    for push: Push, to addressee: Addressee, over route: DeliveryRoute
  ) throws(PushRequestError) -> APNSRequest {
    let app: BundleIdentifier
    if let known = known[route] { app = known.app } else { app = try places.route(to: addressee.target).app }
    return try APNSRequest(push, to: addressee, of: app)
  }

  package func identifier(of request: APNSRequest) -> String? { request.identifier.text }

  package func send(
    _ request: APNSRequest, over route: DeliveryRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    guard let route = known[route] else {
      return DeliveryAttempt(.retryLater(minimumWait: .zero), reason: "apns_unreachable", fault: .connection)
    }
    var attempt = DeliveryAttempt(
      await sender.send(request, over: route, until: deadline, permit: permit, on: reactor))
    // A registration without an app was sent to as the default app's, and may be that of an earlier default: such a refusal
    // proves nothing about the token.
    attempt.sparesTarget = !request.namesApp && attempt.reason == "DeviceTokenNotForTopic"
    return attempt
  }

  /// The same app's devices in the other environment.
  package func route(besides route: DeliveryRoute) -> DeliveryRoute? {
    known[route].flatMap { names[$0.inOtherEnvironment] }
  }

  /// `production` or `sandbox`.
  package func environment(of route: DeliveryRoute) -> String? { known[route]?.environment.rawValue }
}

extension PushRoute {
  package var delivery: DeliveryRoute { DeliveryRoute(.apns, name: name) }

  static func all(of app: BundleIdentifier) -> [PushRoute] {
    APNSEnvironment.allCases.map { PushRoute(app: app, environment: $0) }
  }

  var inOtherEnvironment: PushRoute {
    PushRoute(app: app, environment: environment == .production ? .sandbox : .production)
  }
}

extension APNSRequest {
  /// - Throws: ``PushRequestError`` when the host's device token is malformed.
  package init(_ push: Push, to addressee: Addressee, of app: BundleIdentifier) throws(PushRequestError) {
    let deviceToken = try DeviceToken(addressee.target.address)
    try self.init(
      push.payload.pushType, try push.payload.encoded(badge: addressee.badge, logID: addressee.logID), to: deviceToken,
      of: app, priority: push.priority, expiresAt: addressee.expiresAt,
      identifier: PushIdentifier(
        eventKind: addressee.subject.kind, event: addressee.subject.id.text, recipient: addressee.userID.text,
        deviceToken: deviceToken),
      collapseIdentifier: push.collapseIdentifier)
    namesApp = addressee.target.app != nil
  }
}

/// The apps that pushes go to, and what is meant by a device token that names none.
package struct APNSPlaces: Equatable, Sendable {
  /// The apps with credentials, each with the APNs environment of device tokens that do not name theirs.
  package var apps: [BundleIdentifier: APNSEnvironment]

  /// The app of device tokens that do not name theirs, and the environment of those that name neither.
  package var defaultRoute: PushRoute

  /// - Parameter apps: the default route's alone without any.
  package init(defaultRoute: PushRoute, apps: [BundleIdentifier: APNSEnvironment]? = nil) {
    self.defaultRoute = defaultRoute
    self.apps = apps ?? [defaultRoute.app: defaultRoute.environment]
  }

  /// The route to a device.
  /// - Throws: `bundleIdentifierMalformed` when the registration names an app that cannot be one.
  package func route(to target: PushTarget) throws(PushRequestError) -> PushRoute {
    let app = try target.app.map { name throws(PushRequestError) in try BundleIdentifier(name) } ?? defaultRoute.app
    let environment = target.environment.flatMap(APNSEnvironment.init)
    return PushRoute(app: app, environment: environment ?? apps[app] ?? defaultRoute.environment)
  }
}

/// The way to APNs of one reactor: sends each app's pushes through the app's client.
///
/// Apps of one team and key share a client, and with it its connections.
package final class APNSRouter {
  private var clients: [BundleIdentifier: APNSClient]
  private let metrics: APNSMetrics

  /// Makes a router over clients of the same reactor.
  /// - Parameter metrics: APNs' answers are counted there.
  package init(_ clients: [BundleIdentifier: APNSClient], metrics: APNSMetrics = APNSMetrics()) {
    self.clients = clients
    self.metrics = metrics
  }

  package func client(for app: BundleIdentifier) -> APNSClient? { clients[app] }

  /// Takes the clients that serve from now on. A client without an app closes its connections after their last answers;
  /// pushes that wait for one of them go through their app's new client.
  package func update(_ clients: [BundleIdentifier: APNSClient], on reactor: isolated Reactor) {
    let retired = self.clients.values.filter { old in !clients.values.contains { $0 === old } }
    self.clients = clients
    for client in retired { client.close(on: reactor) }
  }

  /// Closes every client's connections after their last answers.
  package func close(on reactor: isolated Reactor) {
    for client in clients.values { client.close(on: reactor) }
  }
}

extension APNSRouter: APNSSender {
  /// Sends through the app's client; a push of an app that is not configured is not processed.
  package func send(
    _ request: APNSRequest, over route: PushRoute, until deadline: UInt64, permit: PushPermit? = nil,
    on reactor: isolated Reactor
  ) async -> APNSOutcome {
    let answers = metrics.answers(over: route)
    while let client = clients[route.app] {
      let attempt = await client.send(
        request, to: route.environment, until: deadline, permit: permit, counting: answers, on: reactor)
      // A push that APNs has not seen because its client was retired goes to the next client.
      guard case .notProcessed = attempt, clients[route.app] !== client else { return attempt }
    }
    return .notProcessed(cause: "\(route.app.text) is not configured")
  }
}
