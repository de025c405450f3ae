import APNSSimulation
import Channels
import Cryptography
import Logging
import PushRules
import Reactors
import TestReactors
import Testing

/// A running simulator with a key, an app and ten devices, and clients for it.
struct FaultScene: Sendable {
  private static let bundle = "com.example.app"
  private static let deviceCount = 10

  let simulator: APNSSimulator
  let address: SocketAddress
  private let key: P256PrivateKey

  var service: SimulatedService { simulator.service }

  /// Runs a test on a reactor of its own, and stops everything afterwards.
  /// - Parameter delayMilliseconds: what each answer takes, so that many pushes are under way when a fault strikes.
  static func play(
    delayMilliseconds: Int = 2,
    _ body: @escaping @Sendable (FaultScene, isolated Reactor) async throws -> Void
  ) async throws {
    let scene = try await FaultScene(delayMilliseconds: delayMilliseconds)
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await onReactor { reactor in try await body(scene, reactor) })
    } catch {
      outcome = .failure(error)
    }
    await scene.simulator.stop()
    try outcome.get()
  }

  private init(delayMilliseconds: Int) async throws {
    key = P256PrivateKey()
    var configuration = APNSSimulatorConfiguration()
    configuration.listeners = [.production: try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))]
    configuration.registry.register(
      ProviderKey(identifier: "KEY0000001", team: "TEAM000001", publicKey: key.publicKey))
    configuration.registry.registerBundle(Self.bundle, team: "TEAM000001")
    for device in 0..<Self.deviceCount {
      configuration.registry.register(
        RegisteredDevice(environment: .production, bundle: Self.bundle, delayMilliseconds: delayMilliseconds),
        token: Self.deviceToken(ofPush: device))
    }
    simulator = try APNSSimulator(configuration)
    address = try #require(try await simulator.start().listeners[.production])
  }

  /// A client for the simulator, or for a relay in front of it.
  func client(
    port: UInt16? = nil, configure: (inout APNSConfiguration) -> Void = { _ in }
  ) async throws -> APNSClient {
    var configuration = APNSConfiguration()
    configure(&configuration)
    let authority = try #require(simulator.certificateAuthority)
    let credentials = try ProviderCredentials(
      keyIdentifier: "KEY0000001", teamIdentifier: "TEAM000001", privateKey: key.pem)
    return APNSClient(
      endpoints: [.production: APNSEndpoint(host: "127.0.0.1", port: port ?? address.port)],
      context: try TLSContext(trusting: .systemAnd(.text(authority)), protocols: ["h2"]),
      tokens: try ProviderTokenSource(credentials), configuration: configuration,
      logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
  }

  /// The push of this number, to one of the devices: a line of its own there.
  func push(_ number: Int) throws -> PushRequest {
    let token = try DeviceToken(Self.deviceToken(ofPush: number))
    let head = try PushRequestHead(
      deviceToken: token, pushType: .alert, bundleIdentifier: try BundleIdentifier(Self.bundle),
      priority: .immediate, expiration: .servicePolicy,
      identifier: PushIdentifier(eventKind: "message", event: "\(number)", recipient: "r", deviceToken: token),
      collapseIdentifier: try CollapseIdentifier("m\(number)"))
    return try PushRequest(head: head, body: Array(#"{"aps":{"alert":"push \#(number)"}}"#.utf8))
  }

  func script(_ fault: ServerFault, skip: Int, times: Int = 1) {
    service.withFaults { script in _ = script.append(.init(fault, skip: skip, times: times)) }
  }

  static func deviceToken(ofPush number: Int) -> String { "a\(number % deviceCount)" }
}
