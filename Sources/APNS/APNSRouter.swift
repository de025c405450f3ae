public import APNSCore
public import Reactors

/// The push channel of one reactor: knows which client an app's pushes go through.
///
/// Apps of one team and key share a client, and with it its connections.
public final class APNSRouter {
  private var clients: [BundleIdentifier: APNSClient]

  /// Makes a router over clients of the same reactor.
  public init(_ clients: [BundleIdentifier: APNSClient]) {
    self.clients = clients
  }

  /// The client of an app; nil when the app is not configured.
  public func client(for app: BundleIdentifier) -> APNSClient? { clients[app] }

  /// Closes every client's connections after their last answers.
  public func close(on reactor: isolated Reactor) {
    for client in clients.values { client.close(on: reactor) }
  }
}

extension APNSRouter: PushChannel {
  /// Sends through the app's client; a push of an app that is not configured is not processed.
  public func send(_ request: PushRequest, over route: PushRoute, on reactor: isolated Reactor) async -> PushAttempt {
    guard let client = clients[route.app] else {
      return .failed(.notProcessed(cause: "\(route.app.text) is not configured"))
    }
    return await client.send(request, to: route.environment, on: reactor)
  }
}
