internal import HTTP1
internal import HTTP2
package import Logging
package import Reactors
internal import Synchronization

/// A local APNs with TLS and HTTP/2. It has the real service's checks, responses and misbehaviour, and a control
/// endpoint.
///
/// An instance serves one run: configure, ``start()``, inspect ``service`` and ``connections``, ``stop()``.
package final class APNSSimulator: Sendable {
  /// The time that control requests have when the simulator stops.
  private static let drainLimit = Duration.seconds(1)

  package let service: SimulatedService

  package let connections = ConnectionDirectory()

  /// The PEM text that a client must trust; nil with a configured certificate.
  package let certificateAuthority: String?

  private let configuration: APNSSimulatorConfiguration
  private let context: TLSContext
  private let running = Mutex<Running?>(nil)

  private struct Running: Sendable {
    let group: ReactorGroup
    var listeners: [BoundListener] = []
    var control: HTTPService?

    var addresses: [SimulatedEnvironment: SocketAddress] {
      Dictionary(uniqueKeysWithValues: listeners.map { ($0.environment, $0.address) })
    }

    var reactor: Reactor { group.reactors[0] }
  }

  /// A simulator that does not listen yet.
  /// - Throws: an error that describes the problem of the certificate or its key.
  package init(_ configuration: APNSSimulatorConfiguration) throws {
    self.configuration = configuration
    service = SimulatedService(
      clock: configuration.clock, recordsMax: configuration.recordsMax, conduct: configuration.conduct)
    service.withRegistry { $0 = configuration.registry }
    let identity = try configuration.identity.issue(by: "APNs simulator")
    certificateAuthority = identity.authority
    context = try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: ["h2"], asksForCertificate: true)
  }

  /// Starts to listen. Clients can connect when it returns.
  /// - Throws: an error that names an unavailable address; then everything is stopped.
  package func start() async throws -> SimulatorAddresses {
    var running = Running(group: try ReactorGroup(count: 1, name: "simulator"))
    do {
      try await beginScenario(running.reactor)
      try await listen(on: configuration.listeners, &running)
      running.control = try await startControl(running.reactor)
      continueScenario(running.reactor)
      self.running.withLock { [running] in $0 = running }
      return SimulatorAddresses(listeners: running.addresses, control: running.control?.address)
    } catch {
      await Self.end(running)
      throw error
    }
  }

  /// Closes everything. Idempotent.
  package func stop() async {
    let running = self.running.withLock { running in
      defer { running = nil }
      return running
    }
    if let running { await Self.end(running) }
  }

  /// Closes every connection and refuses new ones until ``resume()``. The control endpoint, registry and records stay.
  /// Do not call it concurrently with start, stop or resume.
  package func suspend() async {
    for listener in running.withLock({ $0?.listeners ?? [] }) { await listener.end() }
  }

  /// Listens again on the addresses before ``suspend()``.
  /// - Throws: an error that names an address that is in use; then the simulator is stopped.
  package func resume() async throws {
    let taken = running.withLock { running in
      defer { running = nil }
      return running
    }
    guard var running = taken else { return }
    let addresses = running.addresses
    running.listeners = []
    do {
      try await listen(on: addresses, &running)
      self.running.withLock { [running] in $0 = running }
    } catch {
      await Self.end(running)
      throw error
    }
  }

  /// Waits until `count` pushes have been recorded since the start or the last clearing of the log.
  /// - Returns: false when the limit passed first, or the simulator does not run.
  package func waitForPushes(_ count: Int, within limit: Duration) async -> Bool {
    guard let reactor = running.withLock({ $0?.reactor }) else { return false }
    let service = service
    let isReached = try? await reactor.perform { reactor in
      await service.waitForPushes(count, within: limit, on: reactor)
    }
    return isReached ?? false
  }
}

// Starting and ending.
extension APNSSimulator {
  private func listen(
    on addresses: [SimulatedEnvironment: SocketAddress], _ running: inout Running
  ) async throws {
    let (service, directory, context) = (service, connections, context)
    let (policy, logger) = (configuration.streams, configuration.logger)
    for (environment, address) in addresses {
      let listener = try await running.reactor.perform { reactor in
        let server = PushServer(environment, service: service, directory: directory, policy: policy, logger: logger)
        return try BoundListener(server, on: address, context: context, reactor: reactor)
      }
      running.listeners.append(listener)
    }
  }

  private var desk: ControlDesk { ControlDesk(service: service, connections: connections) }

  private func beginScenario(_ reactor: Reactor) async throws {
    guard let scenario = configuration.scenario else { return }
    let desk = desk
    try await reactor.perform { reactor in try scenario.begin(at: desk, on: reactor) }
  }

  private func continueScenario(_ reactor: Reactor) {
    guard let scenario = configuration.scenario else { return }
    let (desk, logger) = (desk, configuration.logger)
    reactor.submit { reactor in
      await scenario.goOn(at: desk, on: reactor) { error in
        logger.error("scenario step failed", metadata: ["error": "\(error)"])
      }
    }
  }

  private func startControl(_ reactor: Reactor) async throws -> HTTPService? {
    guard let address = configuration.control else { return nil }
    let routes = APNSControlRoutes(desk: desk).table()
    return try await HTTPService.start(
      routes, on: address, reactors: [reactor], logger: configuration.logger)
  }

  private static func end(_ running: Running) async {
    for listener in running.listeners { await listener.end() }
    if let control = running.control { _ = await control.drain(within: drainLimit) }
    await running.group.stop()
  }
}

/// The actual addresses of a simulator, also for port 0.
package struct SimulatorAddresses: Sendable {
  package let listeners: [SimulatedEnvironment: SocketAddress]
  package let control: SocketAddress?

  /// `{"production":"127.0.0.1:2197","sandbox":...,"control":...}` in this order, without absent members.
  package var json: String {
    var members: [String] = []
    for environment in SimulatedEnvironment.allCases {
      if let address = listeners[environment] { members.append(#""\#(environment.rawValue)":"\#(address)""#) }
    }
    if let control { members.append(#""control":"\#(control)""#) }
    return "{" + members.joined(separator: ",") + "}"
  }
}

/// The configuration of a simulator. Every value has a default. By default it refuses every push until a key, an app
/// and a device are registered.
package struct APNSSimulatorConfiguration: Sendable {
  /// The address of each environment. Port 0 lets the kernel choose; an environment without an address is not served.
  package var listeners: [SimulatedEnvironment: SocketAddress] = [:]
  /// The address of the control endpoint, in plain HTTP/1.1 without authentication, so use a loopback address. Nil for
  /// none.
  package var control: SocketAddress?
  package var identity = SimulatorIdentity.privateAuthority
  package var registry = SimulationRegistry()
  package var streams = StreamPolicy()
  package var conduct = ServerConduct()
  package var scenario: Scenario?
  /// Push records kept in full.
  package var recordsMax = APNSPushLog.capacityDefault
  /// The clock for provider tokens and expirations.
  package var clock = SimulationClock()
  /// Logs each answered push at `debug` by its number in the push log, and the messages of the control endpoint.
  package var logger = Logger(label: "apns")

  package init() {}
}

/// The conduct of the server towards its clients, beyond single pushes. It may change while the server runs.
package struct ServerConduct: Equatable, Sendable {
  /// An additional delay of every response, in milliseconds.
  package var delayMilliseconds = 0

  /// The time without a request after which a connection ends with `IdleTimeout`, in milliseconds; nil for never. A
  /// change applies to new connections. The real limit is unpublished.
  package var idleMilliseconds: Int?

  /// The limit of new connections; nil for none. The real numbers are unpublished.
  package var churn: ChurnLimit?

  /// Whether users allow updates of a Live Activity that a push started. Without it the activity gets no update token.
  package var allowsActivityUpdates = true

  /// Pushes of priority 10 that a Live Activity shows in an hour; nil for any number. The real budget is unpublished.
  package var activityBudget: Int?

  package init() {}
}

/// A limit of new connections, and its penalty.
package struct ChurnLimit: Codable, Equatable, Sendable {
  /// The most connections within ``seconds``, from 1. Further ones are refused.
  package var connections: Int
  /// The window in which they are counted, in seconds.
  package var seconds: Int
  /// How long all connections are refused then, in milliseconds.
  package var refusedMilliseconds: Int

  /// A limit; numbers below 1 count as 1.
  package init(connections: Int, seconds: Int, refusedMilliseconds: Int) {
    self.connections = max(1, connections)
    self.seconds = max(1, seconds)
    self.refusedMilliseconds = max(1, refusedMilliseconds)
  }

  enum CodingKeys: String, CodingKey, CaseIterable {
    case connections, seconds
    case refusedMilliseconds = "refused_ms"
  }
}

/// The concurrent streams of a connection.
package struct StreamPolicy: Equatable, Sendable {
  /// The most open streams of a trusted connection. 1000 was last observed on the real service (2021).
  package var streamsMax = 1000
  /// Whether a connection has one stream until its first accepted push.
  package var startsWithOne = true
  /// Whether a refusal other than 410 reduces the streams to one until the next accepted push.
  package var dropsAfterRefusal = true
  /// Whether streams over the limit are refused. Otherwise the limit is only announced.
  package var refusesExcess = true
  /// The number of `BadDeviceToken` responses in a row that ends a connection; nil for none. The real number is
  /// unpublished.
  package var badTokensMax: Int? = 20

  package init() {}
}
