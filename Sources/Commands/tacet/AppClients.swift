import API
import Channels
import CoreMetrics
import Cryptography
import HTTPTransfers
import Logging
import PushPipeline
import PushRules
import Reactors
import Settings

/// The way to APNs for every app: a client for each team and key.
final class AppClients {
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

/// How APNs is reached for every app. It is whole before anything follows it, so that keys that cannot sign change nothing.
struct APNSPlan: Sendable {
  let settings: APNSSettings
  private let context: TLSContext
  /// One for each team and key in the process: APNs counts how often their tokens change.
  private let tokens: [SigningKeySettings: ProviderTokenSource]

  /// Reuses the tokens of the plan before it, which has the same apps and servers.
  ///
  /// Token sources are kept for one plan longer than they are used: an operator who takes a new key back at once must not
  /// cause a second token of the old one.
  /// - Throws: when a key cannot sign, or the certificates cannot be trusted.
  init(_ settings: APNSSettings, after previous: APNSPlan? = nil) throws {
    self.settings = settings
    context = try previous?.context ?? APNSClient.makeContext(certificatesFile: settings.certificatesFile)
    var tokens = previous?.tokensInUse ?? [:]
    for key in Set(settings.apps.map(\.key)) {
      tokens[key] = try Self.source(for: key, known: previous?.tokens[key])
    }
    self.tokens = tokens
  }

  /// The token sources of the apps, each once.
  var sources: [ProviderTokenSource] { Array(tokensInUse.values) }

  /// How old the tokens of the apps are, in the order of their keys in the settings.
  var tokenAges: [Duration] {
    var known: Set<SigningKeySettings> = []
    return settings.apps.map(\.key).filter { known.insert($0).inserted }.compactMap { tokens[$0]?.current.age }
  }

  func makeClient(for key: SigningKeySettings, logger: Logger) -> APNSClient {
    APNSClient(
      endpoints: settings.endpoints, context: context, tokens: source(for: key), logger: logger)
  }

  private func source(for key: SigningKeySettings) -> ProviderTokenSource {
    guard let source = tokens[key] else { preconditionFailure("a plan has the tokens of its apps") }
    return source
  }

  private var tokensInUse: [SigningKeySettings: ProviderTokenSource] {
    let keys = Set(settings.apps.map(\.key))
    return tokens.filter { keys.contains($0.key) }
  }

  private static func source(
    for key: SigningKeySettings, known: ProviderTokenSource?
  ) throws -> ProviderTokenSource {
    if let known {
      try known.renewIfDue()
      return known
    }
    return try ProviderTokenSource(
      ProviderCredentials(
        keyIdentifier: key.keyIdentifier, teamIdentifier: key.teamIdentifier, privateKey: key.privateKey.exposed))
  }
}

/// Renews the provider tokens when it is time. Looks once a minute; a look that fails is repeated a minute later, which
/// leaves twenty more before APNs would refuse the old one.
final class TokenRenewal {
  private static let interval = Duration.seconds(60)

  /// Those of all teams and keys in use.
  var sources: [ProviderTokenSource]

  private let logger: Logger
  private var timer: TimerToken?

  init(_ sources: [ProviderTokenSource], logger: Logger) {
    self.sources = sources
    self.logger = logger
  }

  func start(on reactor: isolated Reactor) {
    timer = reactor.schedule(after: Self.interval, self)
  }

  func stop(on reactor: isolated Reactor) {
    if let timer { reactor.cancel(timer) }
    timer = nil
  }

  private func look() {
    for source in sources {
      do {
        try source.renewIfDue()
      } catch {
        logger.error("cannot sign a provider token", metadata: ["error": "\(error)"])
      }
    }
  }
}

extension TokenRenewal: Reactors.TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    start(on: reactor)
    look()
  }
}

/// How the pushes of one route fare.
struct RouteState: Sendable {
  let route: PushRoute
  /// Why pushes wait in the database, or would; nil when they go.
  let fault: String?
  let breaker: BreakerState
  /// Whether the settings name the environment as the app's: device tokens that others register do not decide readiness.
  let isOwn: Bool
  /// Whether pushes need it: the environment is the app's own, or pushes wait for it. Otherwise it
  /// was only asked about tokens that the app's own does not know, and the app's key need not even be for it.
  let isNeeded: Bool
  let isConnected: Bool
  /// Whether pushes can go; a connection that was idle for too long need not be open for that.
  let isReady: Bool
  /// Why pushes cannot go, or all are refused; nil when no fault is known.
  let failure: String?

  /// The route's part of `/readyz`, which strangers read: the log and `tacet doctor` have what hosts and resolvers say.
  var readiness: ReadinessCheck {
    let name = "apns \(route.name)"
    guard let fault else {
      return ReadinessCheck(name, isReady: isReady || !isOwn, detail: isReady ? nil : "not connected")
    }
    return ReadinessCheck(
      name, isReady: !isOwn, detail: "APNs takes no pushes, \(isNeeded ? "they wait" : "none is waiting"): \(fault)")
  }
}

extension RouteState {
  init(route: PushRoute, pipeline: DeliveryPipeline, isOwn: Bool, client: APNSClient) {
    self.init(
      route: route, fault: pipeline.fault(of: route.delivery), breaker: pipeline.breakerState(of: route.delivery),
      isOwn: isOwn,
      isNeeded: isOwn || pipeline.isWaitedFor(route.delivery),
      isConnected: client.isConnected(to: route.environment),
      isReady: client.isReady(for: route.environment),
      failure: client.failure(of: route.environment))
  }
}

extension RouteState {
  /// The route's part of the page for operators.
  var condition: RouteCondition {
    let problem = [fault, failure].compactMap { $0 }.joined(separator: "; ")
    return RouteCondition(
      name: route.name, isReady: isReady && fault == nil, isNeeded: isNeeded, problem: problem.isEmpty ? nil : problem)
  }
}

/// The deliverers beside that of APNs.
struct OtherDeliverers {
  let all: [any PushDeliverer]

  init(_ channels: [any ConfiguredChannel], on reactor: isolated Reactor) {
    all = channels.map { $0.makeDeliverer(on: reactor) }
  }

  func close(on reactor: isolated Reactor) {
    for deliverer in all { deliverer.close(on: reactor) }
  }

  func states(in pipeline: DeliveryPipeline) -> [OtherRouteState] {
    all.flatMap(\.routes).map {
      OtherRouteState(name: $0.name, fault: pipeline.fault(of: $0), isNeeded: pipeline.isWaitedFor($0))
    }
  }

  /// The routes' part of the page for operators.
  func conditions(in pipeline: DeliveryPipeline) -> [RouteCondition] {
    states(in: pipeline).map {
      RouteCondition(name: $0.name, isReady: $0.fault == nil, isNeeded: $0.isNeeded, problem: $0.fault)
    }
  }
}
