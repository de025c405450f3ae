package import PushRules
package import Reactors

/// The deliverer of APNs: every app, both environments.
package final class APNSDeliverer {
  package private(set) var places: APNSPlaces

  private let sender: any PushChannel
  /// Every configured route, by what the pipeline calls it.
  private var known: [DeliveryRoute: PushRoute] = [:]
  private var names: [PushRoute: DeliveryRoute] = [:]

  package init(_ sender: any PushChannel, places: APNSPlaces) {
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

  package func request(
    for push: OutgoingPush, over route: DeliveryRoute
  ) throws(PushRequestError) -> any DeliveryRequest {
    let app: BundleIdentifier
    if let known = known[route] { app = known.app } else { app = try places.route(to: push.target).app }
    return APNSDelivery(request: try push.request(of: app), namesApp: push.target.app != nil)
  }

  package func send(
    _ request: any DeliveryRequest, over route: DeliveryRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    guard let delivery = request as? APNSDelivery, let route = known[route] else {
      return DeliveryAttempt(.retryLater(minimumWait: .zero), reason: "apns_unreachable", fault: .connection)
    }
    var attempt = DeliveryAttempt(
      await sender.send(delivery.request, over: route, until: deadline, permit: permit, on: reactor))
    // A registration without an app was sent to as the default app's, and may be that of an earlier default: such a refusal
    // proves nothing about the token.
    attempt.sparesTarget = !delivery.namesApp && attempt.reason == "DeviceTokenNotForTopic"
    return attempt
  }

  /// The same app's devices in the other environment.
  package func route(besides route: DeliveryRoute) -> DeliveryRoute? {
    known[route].flatMap { names[$0.inOtherEnvironment] }
  }

  /// `production` or `sandbox`.
  package func environment(of route: DeliveryRoute) -> String? { known[route]?.environment.rawValue }
}

struct APNSDelivery: DeliveryRequest {
  let request: PushRequest
  /// Whether the registration said which app has the token.
  let namesApp: Bool

  var identifier: String? { request.head.identifier.text }
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
