import API
import Channels
import PushPipeline
import PushRules
import Reactors

/// How one reactor fares with the pushes of one route.
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

extension PerReactor<ReactorWorker> {
  func routeConditions() async -> [RouteCondition] {
    var conditions: [RouteCondition] = []
    for worker in all { conditions += await worker.perform { $0.routeConditions(on: $1) } }
    return conditions
  }
}
