internal import HTTP1
package import Logging
package import Reactors

/// A stand-in for the browsers' push services, and for the browsers behind them. It judges requests as the services do, decrypts
/// what they carry, misbehaves on request, and has a control endpoint.
///
/// Usable from any task.
package final class WebPushSimulator: Sendable {
  /// The time that requests have when the simulator stops.
  private static let drainLimit = Duration.seconds(1)

  package let service: SimulatedPushService

  /// The PEM text that a client must trust; nil with a configured certificate.
  package let certificateAuthority: String?

  /// Where senders connect, with TLS.
  package let address: SocketAddress

  /// The control endpoint, in plain HTTP.
  package let control: SocketAddress

  private let servers: [HTTPService]
  private let reactor: Reactor

  private init(
    _ service: SimulatedPushService, _ authority: String?, push: HTTPService, control: HTTPService, _ reactor: Reactor
  ) {
    self.service = service
    certificateAuthority = authority
    address = push.address
    self.control = control.address
    servers = [push, control]
    self.reactor = reactor
  }

  /// Starts to listen. Clients can connect when it returns.
  /// - Parameter reactor: serves the requests; it must run until ``stop()`` has returned.
  /// - Throws: an error that names the fault of an address, the certificate or its key.
  package static func start(
    _ configuration: WebPushSimulatorConfiguration = WebPushSimulatorConfiguration(), on reactor: Reactor
  ) async throws -> WebPushSimulator {
    let service = SimulatedPushService(recordsMax: configuration.recordsMax)
    let identity = try configuration.identity.issue(by: "Web Push simulator")
    let context = try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: ["http/1.1"],
      requiresProtocol: false)
    let push = try await HTTPService.start(
      PushRoutes(service: service).table(), on: configuration.address, reactors: [reactor], tls: context,
      logger: configuration.logger)
    do {
      let control = try await HTTPService.start(
        WebPushControlRoutes(service: service, face: configuration.face).table(), on: configuration.control,
        reactors: [reactor], logger: configuration.logger)
      service.origin = "https://\(push.address)"
      return WebPushSimulator(service, identity.authority, push: push, control: control, reactor)
    } catch {
      _ = await push.drain(within: drainLimit)
      throw error
    }
  }

  /// `{"push":"https://127.0.0.1:8443","control":"127.0.0.1:8444"}`
  package var json: String { #"{"push":"\#(service.origin)","control":"\#(control)"}"# }

  /// Waits until `count` requests have come since the start or ``SimulatedPushService/forgetPushes()``.
  /// - Returns: false when the limit passed first.
  package func waitForPushes(_ count: Int, within limit: Duration) async -> Bool {
    let isReached = try? await reactor.perform { [service] reactor in
      await service.waitForPushes(count, within: limit, on: reactor)
    }
    return isReached ?? false
  }

  /// Open connections of senders.
  package var connectionCount: Int { get async { await servers[0].connectionCount } }

  /// Closes the connections of waiting requests, and stops. Stopping twice does nothing.
  package func stop() async {
    service.held.end()
    for server in servers { _ = await server.drain(within: Self.drainLimit) }
  }
}

/// The configuration of a simulator. Every value has a default.
package struct WebPushSimulatorConfiguration: Sendable {
  /// Where senders connect. Port 0 lets the kernel choose.
  package var address = SocketAddress.anyLoopback

  /// The control endpoint. It has no authentication, so use a loopback address.
  package var control = SocketAddress.anyLoopback

  package var identity = SimulatorIdentity.privateAuthority

  /// The service of subscriptions that name none.
  package var face = PushServiceFace.mozilla

  /// The number of records kept. 10,000: some 20 MB with ordinary pushes.
  package var recordsMax = 10_000

  package var logger = Logger(label: "web-push")

  package init() {}
}
