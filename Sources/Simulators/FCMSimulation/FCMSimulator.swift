internal import Cryptography
internal import HTTP1
internal import Logging
package import Reactors
internal import SimulationControl

/// A stand-in for FCM's HTTP v1 interface and for Google's token endpoint, with their checks and answers, misbehaviour
/// on request, and a control endpoint.
///
/// Usable from any task.
package final class FCMSimulator: Sendable {
  /// The time that requests have when the simulator stops.
  private static let drainLimit = Duration.seconds(1)

  /// Google's token endpoint, which assertions may always be for.
  private static let googleAudience = "https://oauth2.googleapis.com/token"

  package let service: SimulatedFCM

  /// The actual address of both endpoints, also for port 0.
  package let address: SocketAddress

  package let controlAddress: SocketAddress

  private let services: [HTTPService]
  private let reactor: Reactor

  private init(_ service: SimulatedFCM, _ fcm: HTTPService, _ control: HTTPService, _ reactor: Reactor) {
    self.service = service
    self.reactor = reactor
    address = fcm.address
    controlAddress = control.address
    services = [fcm, control]
  }

  /// Starts to listen. Clients can connect when it returns.
  /// - Parameter reactor: serves the requests; it must run until ``stop()`` has returned.
  /// - Throws: `SystemError` when an address is not available; ``FCMSimulatorError`` for an unusable service account.
  package static func start(
    _ configuration: FCMSimulatorConfiguration = FCMSimulatorConfiguration(), on reactor: Reactor
  ) async throws -> FCMSimulator {
    let service = SimulatedFCM(recordsMax: configuration.recordsMax)
    for account in configuration.serviceAccounts { try service.addServiceAccount(account) }
    let routes = [ServiceRoutes(service: service).table(), ControlRoutes(service: service).table()]
    var listeners: [HTTPService] = []
    do {
      for (routes, address) in zip(routes, [configuration.address, configuration.controlAddress]) {
        listeners.append(
          try await HTTPService.start(routes, on: address, reactors: [reactor], logger: configuration.logger))
      }
    } catch {
      for listener in listeners { _ = await listener.drain(within: drainLimit) }
      throw error
    }
    let simulator = FCMSimulator(service, listeners[0], listeners[1], reactor)
    service.withBooks { books in
      books.conduct.acceptsAnyToken = configuration.acceptsAnyToken
      books.audiences = configuration.audiences.union([googleAudience, simulator.tokenURI])
    }
    return simulator
  }

  package var origin: String { "http://\(address)" }

  package var control: String { "http://\(controlAddress)" }

  package var tokenURI: String { "\(origin)/token" }

  /// `{"url":"http://127.0.0.1:2400","control":"http://127.0.0.1:2401"}`
  package var json: String { #"{"url":"\#(origin)","control":"\#(control)"}"# }

  /// Makes a service account with a new key and registers it.
  /// - Returns: Google's JSON file for it, whose `token_uri` is this simulator.
  package func makeServiceAccount(project: String = "demo-project") throws -> String {
    let file = AccountFile(project: project, tokenURI: tokenURI)
    let json = String(decoding: try sortedJSON(file), as: UTF8.self)
    try service.addServiceAccount(json)
    return json
  }

  /// Waits until so many requests to send have come since the start.
  /// - Returns: false when the limit passed first.
  package func waitForMessages(_ count: Int, within limit: Duration) async -> Bool {
    let haveCome = try? await reactor.perform { [service] reactor in
      await service.waitForMessages(count, within: limit, on: reactor)
    }
    return haveCome ?? false
  }

  /// Closes the connections of waiting requests, and stops. Idempotent.
  package func stop() async {
    service.held.end()
    for listener in services { _ = await listener.drain(within: Self.drainLimit) }
  }
}
