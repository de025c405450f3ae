import APNS
import APNSCore
import PushAPI

/// How one reactor fares with the pushes of one app and environment.
struct RouteState: Sendable {
  let route: PushRoute
  /// Why pushes wait in the database; nil when they go.
  let fault: String?
  let isConnected: Bool
  /// Whether pushes can go; a connection that was idle for too long need not be open for that.
  private let isReady: Bool
  /// Why pushes cannot go, or are refused whatever they are; nil when nothing is known against them.
  private let failure: String?

  init(route: PushRoute, fault: String?, client: APNSClient) {
    self.route = route
    self.fault = fault
    isConnected = client.isConnected(to: route.environment)
    isReady = client.isReady(for: route.environment)
    failure = client.failure(of: route.environment)
  }

  /// The route's part of `/readyz`.
  var readiness: ReadinessCheck {
    let name = "apns \(route.name)"
    if let fault {
      let cause = [fault, failure].compactMap { $0 }.joined(separator: "; ")
      return ReadinessCheck(name, isReady: false, detail: "APNs takes no pushes, they wait: \(cause)")
    }
    return ReadinessCheck(name, isReady: isReady, detail: failure)
  }
}
