import API
import Channels
import CoreMetrics
import Logging
import PushPipeline
import PushRules
import Reactors
import Settings

/// One reactor's way to APNs for every app: a client for each team and key.
final class ReactorApps {
  let deliverer: APNSDeliverer

  private let router: APNSRouter
  /// What is not sent. Where that is everything, no connection to APNs is opened.
  let shadow: ShadowedKinds

  private let logger: Logger
  private var plan: APNSPlan
  private var clients: [SigningKeySettings: APNSClient]
  /// By clients that are gone.
  private var connectionsOpenedBefore = 0

  /// Connects nothing yet.
  init(_ plan: APNSPlan, shadow: ShadowedKinds, metrics: any MetricsFactory, logger: Logger) {
    self.logger = logger
    self.shadow = shadow
    self.plan = plan
    clients = Self.clients(of: plan, keeping: [:], logger: logger)
    let metrics = APNSMetrics(metrics)
    router = APNSRouter(plan.routing(clients), metrics: metrics)
    deliverer = APNSDeliverer(router, places: plan.settings.places)
    plan.show(in: metrics)
  }

  /// Opens a connection to the environment of each app ahead of its first push.
  func warmUp(on reactor: isolated Reactor) {
    if shadow != .all { plan.warmUp(clients, on: reactor) }
  }

  /// Follows a plan with other keys: what is new is connected before what is old is closed, after its last answers.
  ///
  /// The wait looks again every 20 ms: a connection takes a hundred, and nothing else hangs on it.
  /// - Parameter limit: after it the plan is followed nevertheless; pushes wait in the database until APNs is reached.
  func follow(_ next: APNSPlan, within limit: Duration, on reactor: isolated Reactor) async {
    let clients = Self.clients(of: next, keeping: self.clients, logger: logger)
    if shadow != .all {
      next.warmUp(clients, on: reactor)
      let deadline = Reactor.now &+ limit.clampedNanoseconds
      while !next.isConnected(clients), Reactor.now < deadline { await reactor.sleep(for: .milliseconds(20)) }
    }
    router.update(next.routing(clients), on: reactor)
    let gone = self.clients.values.filter { old in !clients.values.contains { $0 === old } }
    connectionsOpenedBefore += Self.connectionsOpened(by: gone)
    self.clients = clients
    plan = next
  }

  /// Connections to APNs since the start.
  var connectionsOpened: Int { connectionsOpenedBefore + Self.connectionsOpened(by: clients.values) }

  /// The connections to each environment now.
  var figures: [APNSEnvironment: APNSFigures] {
    var figures: [APNSEnvironment: APNSFigures] = [:]
    for client in clients.values {
      for environment in APNSEnvironment.allCases {
        let pushes = client.pushes(to: environment)
        figures[environment, default: APNSFigures()].connections += client.connections(to: environment)
        figures[environment, default: APNSFigures()].pushesInFlight += pushes.inFlight
        figures[environment, default: APNSFigures()].pushesWaiting += pushes.waiting
      }
    }
    return figures
  }

  var tokenAges: [Duration] { plan.tokenAges }

  /// The routes that are looked at: each app's own, and the one to the other environment's devices where it is used or fails.
  /// None where nothing is sent.
  /// - Parameter pipeline: the one whose pushes take them.
  func routes(of pipeline: DeliveryPipeline) -> [RouteState] {
    guard shadow != .all else { return [] }
    return plan.settings.apps.flatMap { app in
      APNSEnvironment.allCases.compactMap { environment in
        let route = PushRoute(app: app.bundleIdentifier, environment: environment)
        guard let client = clients[app.key] else { return nil }
        let isOwn = environment == app.environment
        let state = RouteState(route: route, pipeline: pipeline, isOwn: isOwn, client: client)
        return isOwn || state.fault != nil || client.connectionsOpened(to: environment) > 0 ? state : nil
      }
    }
  }

  /// The routes' part of `/readyz`, and what is not sent.
  func readiness(of pipeline: DeliveryPipeline) -> [ReadinessCheck] {
    routes(of: pipeline).map(\.readiness)
      + (shadow.notice.map { [ReadinessCheck(ReadinessCheck.shadow, isReady: true, detail: $0)] } ?? [])
  }

  /// Closes every connection after its last answer.
  func close(on reactor: isolated Reactor) {
    router.close(on: reactor)
  }

  private static func clients(
    of plan: APNSPlan, keeping kept: [SigningKeySettings: APNSClient], logger: Logger
  ) -> [SigningKeySettings: APNSClient] {
    let keys = Set(plan.settings.apps.map(\.key))
    return Dictionary(
      uniqueKeysWithValues: keys.map { ($0, kept[$0] ?? plan.makeClient(for: $0, logger: logger)) })
  }

  private static func connectionsOpened(by clients: some Sequence<APNSClient>) -> Int {
    clients.reduce(0) { sum, client in
      APNSEnvironment.allCases.reduce(sum) { $0 + client.connectionsOpened(to: $1) }
    }
  }
}

extension APNSPlan {
  fileprivate func routing(_ clients: [SigningKeySettings: APNSClient]) -> [BundleIdentifier: APNSClient] {
    let pairs = settings.apps.compactMap { app in clients[app.key].map { (app.bundleIdentifier, $0) } }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  fileprivate func warmUp(_ clients: [SigningKeySettings: APNSClient], on reactor: isolated Reactor) {
    for app in settings.apps { clients[app.key]?.warmUp(app.environment, on: reactor) }
  }

  /// The route of each app that is its own; others are counted once a push has taken them.
  fileprivate func show(in metrics: APNSMetrics) {
    for app in settings.apps { metrics.show(PushRoute(app: app.bundleIdentifier, environment: app.environment)) }
  }

  fileprivate func isConnected(_ clients: [SigningKeySettings: APNSClient]) -> Bool {
    settings.apps.allSatisfy { clients[$0.key]?.isConnected(to: $0.environment) ?? false }
  }
}
