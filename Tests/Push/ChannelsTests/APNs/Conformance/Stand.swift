import APNSSimulation
import Channels
import Cryptography
import HTTP2
import Logging
import PushRules
import Reactors
import Synchronization
import TestAPNSCases

/// A simulator that knows the fixtures of the case file, and clients for it.
struct Stand: Sendable {
  let simulator: APNSSimulator
  let fixtures: CaseFixtures
  private let addresses: SimulatorAddresses
  private let clientKey: P256PrivateKey
  private let minted = MintedTokens()

  var service: SimulatedService { simulator.service }

  /// Which clock the service lives by.
  enum Time {
    /// That of the cases, standing still.
    case ofCases
    /// The machine's, by which our client signs.
    case ofClient
  }

  /// Runs a test on a client's reactor, with everything stopped afterwards.
  static func run<Value: Sendable>(
    _ time: Time, _ configure: (inout APNSSimulatorConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (Stand, isolated Reactor) async throws -> Value
  ) async throws -> Value {
    let stand = try await Stand(time, configure)
    let group = try ReactorGroup(count: 1, name: "client")
    let outcome: Result<Value, any Error>
    do {
      outcome = .success(try await group.reactors[0].perform { reactor in try await body(stand, reactor) })
    } catch {
      outcome = .failure(error)
    }
    await stand.simulator.stop()
    await group.stop()
    return try outcome.get()
  }

  private init(_ time: Time, _ configure: (inout APNSSimulatorConfiguration) -> Void) async throws {
    guard let loopback = SocketAddress(numericHost: "127.0.0.1", port: 0) else { throw CaseFailure("no loopback") }
    fixtures = try CaseFixtures.shared()
    clientKey = P256PrivateKey()
    var configuration = APNSSimulatorConfiguration()
    configuration.listeners = [.production: loopback, .sandbox: loopback]
    configuration.registry = try fixtures.registry()
    configuration.registry.register(
      ProviderKey(identifier: "CLIENTKEY1", team: "TEAM00000A", publicKey: clientKey.publicKey))
    if case .ofCases = time { configuration.clock = SimulationClock(standingAt: fixtures.now) }
    configure(&configuration)
    simulator = try APNSSimulator(configuration)
    addresses = try await simulator.start()
  }

  func port(_ environment: SimulatedEnvironment = .production) throws -> UInt16 {
    guard let address = addresses.listeners[environment] else { throw CaseFailure("\(environment) does not listen") }
    return address.port
  }

  /// What a client of this simulator trusts.
  /// - Parameter certificate: the client certificate to show, by its name in the fixtures.
  func context(protocols: [String] = ["h2"], certificate: String? = nil) throws -> TLSContext {
    try TLSContext(
      trusting: .systemAnd(.text(simulator.certificateAuthority ?? "")),
      presenting: certificate.flatMap { fixtures.certificates[$0] }, protocols: protocols)
  }

  /// The case file's request. Provider tokens are minted once: each signature makes another one.
  /// - Parameter section: the name of the defaults.
  func request(_ overrides: CaseFile.Mapping = [:], over section: String = "defaults") throws -> CaseRequest {
    try CaseRequest(overrides, over: section, fixtures: fixtures) { name in
      try minted.token(name) { try fixtures.mint(name, at: service.clock.now) }
    }
  }

  /// A client that does what it is told, frame by frame.
  func frameClient(certificate: String? = nil, on reactor: isolated Reactor) async throws -> FrameClient {
    try await FrameClient.connect(
      port: port(), context: context(certificate: certificate), on: reactor)
  }

  /// Our client.
  /// - Parameter port: where it connects to instead of the simulator.
  func client(
    _ configuration: APNSConfiguration = APNSConfiguration(), port: UInt16? = nil, on reactor: isolated Reactor
  ) async throws -> APNSClient {
    APNSClient(
      endpoints: [.production: APNSEndpoint(host: "127.0.0.1", port: try port ?? self.port())],
      context: try context(),
      tokens: try await providerTokens(), configuration: configuration,
      logger: Logger(label: "conformance") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Those of our client.
  func providerTokens() async throws -> ProviderTokenSource {
    try ProviderTokenSource(
      ProviderCredentials(
        keyIdentifier: "CLIENTKEY1", teamIdentifier: "TEAM00000A", privateKey: clientKey.pem))
  }

  /// What the service recorded, oldest first.
  var records: [PushRecord] { service.withLog { $0.records(PushQuery()).records } }
}

/// Provider tokens by the name of their preset.
private final class MintedTokens: Sendable {
  private let texts = Mutex<[String: String]>([:])

  func token(_ name: String, mint: () throws -> String) throws -> String {
    try texts.withLock { texts in
      if let known = texts[name] { return known }
      let text = try mint()
      texts[name] = text
      return text
    }
  }
}
