package import PushRules
package import Reactors

/// The push channel of one reactor: sends each app's pushes through the app's client.
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

extension APNSRouter: PushChannel {
  /// Sends through the app's client; a push of an app that is not configured is not processed.
  package func send(
    _ request: PushRequest, over route: PushRoute, until deadline: UInt64, permit: PushPermit? = nil,
    on reactor: isolated Reactor
  ) async -> PushAttempt {
    let answers = metrics.answers(over: route)
    while let client = clients[route.app] {
      let attempt = await client.send(
        request, to: route.environment, until: deadline, permit: permit, counting: answers, on: reactor)
      // A push that APNs has not seen because its client was retired goes to the next client.
      guard case .failed(.notProcessed) = attempt, clients[route.app] !== client else { return attempt }
    }
    return .failed(.notProcessed(cause: "\(route.app.text) is not configured"))
  }
}
