import Cryptography
import Foundation
import HTTP2
import Reactors
import TestAPNSCases
import TestProcesses
import Testing

@testable import Simulators

/// A running simulator with a key, an app and a device, and a reactor for its client.
struct SimulatorScene: Sendable {
  static let token = "a0a0"

  let simulator: APNSSimulator
  let addresses: SimulatorAddresses
  private let context: TLSContext
  private let key = P256PrivateKey()

  var service: SimulatedService { simulator.service }

  /// Runs a test on the client's reactor, with everything stopped afterwards.
  static func play(
    _ configure: (inout APNSSimulatorConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (SimulatorScene, isolated Reactor) async throws -> Void
  ) async throws {
    let scene = try await SimulatorScene(configure)
    let group = try ReactorGroup(count: 1, name: "client")
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await group.reactors[0].perform { reactor in try await body(scene, reactor) })
    } catch {
      outcome = .failure(error)
    }
    await scene.simulator.stop()
    await group.stop()
    try outcome.get()
  }

  private init(_ configure: (inout APNSSimulatorConfiguration) -> Void) async throws {
    let loopback = try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))
    var configuration = APNSSimulatorConfiguration()
    // Of this process also while the simulator does not listen.
    let held = try #require(SocketAddress(numericHost: "127.0.0.1", port: reservedPort()))
    configuration.listeners = [.production: held, .sandbox: loopback]
    configuration.control = loopback
    configuration.registry.register(
      ProviderKey(identifier: "KEY0000001", team: "TEAM000001", publicKey: key.publicKey))
    configuration.registry.registerBundle("com.example.app", team: "TEAM000001")
    configuration.registry.register(
      RegisteredDevice(environment: .production, bundle: "com.example.app"), token: Self.token)
    configure(&configuration)
    simulator = try APNSSimulator(configuration)
    context = try Self.clientContext(of: simulator)
    addresses = try await simulator.start()
  }

  static func clientContext(of simulator: APNSSimulator, protocols: [String] = ["h2"]) throws -> TLSContext {
    let authority = try #require(simulator.certificateAuthority)
    return try TLSContext(trusting: .systemAnd(.text(authority)), protocols: protocols)
  }

  func connect(
    _ environment: SimulatedEnvironment = .production, on reactor: isolated Reactor
  ) async throws -> HTTP2Connection {
    let address = try #require(addresses.listeners[environment])
    var configuration = HTTP2ClientConfiguration()
    configuration.initialStreamsMax = 1
    return try await HTTP2Connection.connect(
      host: "127.0.0.1", port: address.port, context: context, configuration: configuration, within: .seconds(10),
      on: reactor)
  }

  /// A provider token as of now.
  func providerToken() throws -> String {
    try ProviderTokenMint(
      keyIdentifier: "KEY0000001", issuer: "TEAM000001", issuedAt: "\(SimulationClock.wall.seconds)"
    ).sign(with: key)
  }

  func push(_ providerToken: String, to token: String = token, collapseID: String? = nil) -> HTTP2Request {
    var fields: HTTP2Fields = [
      "authorization": "bearer \(providerToken)", "apns-topic": "com.example.app", "apns-push-type": "alert",
    ]
    if let collapseID { fields.append("apns-collapse-id", collapseID) }
    return HTTP2Request(path: "/3/device/\(token)", fields: fields, body: Array(#"{"aps":{"alert":"hi"}}"#.utf8))
  }

  func script(_ fault: ServerFault, skip: Int = 0, times: Int = 1) {
    service.withFaults { script in _ = script.arrange(.init(fault, skip: skip, times: times)) }
  }
}

extension HTTP2Connection {
  func outcome(of request: HTTP2Request, within limit: Duration = .seconds(10), on reactor: isolated Reactor) async
    -> String
  {
    await send(request, within: limit, on: reactor).summary
  }

  /// Sends requests at once and returns their outcomes in their order.
  func outcomes(of requests: [HTTP2Request], on reactor: isolated Reactor) async -> [String] {
    let gathering = Gathering(requests.count)
    for (index, request) in requests.enumerated() {
      reactor.start { [self] in
        gathering.outcomes[index] = await outcome(of: request, on: reactor)
        gathering.missing -= 1
        if gathering.missing == 0 { gathering.signal.signal(on: reactor) }
      }
    }
    _ = await gathering.signal.wait(for: .seconds(20), on: reactor)
    return gathering.outcomes
  }
}

private final class Gathering {
  let signal = Signal()
  var outcomes: [String]
  var missing: Int

  init(_ count: Int) {
    outcomes = Array(repeating: "none", count: count)
    missing = count
  }
}

extension HTTP2Outcome {
  /// In a few words, for comparison.
  var summary: String {
    switch self {
    case .response(let response):
      (["\(response.status)", String(decoding: response.body, as: UTF8.self)]).filter { !$0.isEmpty }
        .joined(separator: " ")
    case .notProcessed(.goAway): "not processed: goaway"
    case .notProcessed(let reason): "not processed: \(reason)"
    case .unknown(.connectionLost): "unknown: connection lost"
    case .unknown(.reset(let code)): "unknown: reset \(code.rawValue)"
    case .unknown(let reason): "unknown: \(reason)"
    }
  }
}

/// One request of a script to the control endpoint, on a connection of its own.
enum ControlClient {
  struct Answer {
    let status: Int
    let body: String

    /// The body as a JSON object; empty when it is none.
    var json: [String: Any] {
      let object = try? JSONSerialization.jsonObject(with: Data(body.utf8))
      return object as? [String: Any] ?? [:]
    }
  }

  static func send(
    _ method: String, _ target: String, _ body: String = "", to address: SocketAddress?, on reactor: isolated Reactor
  ) async throws -> Answer {
    let socket = try await Socket.connect(to: #require(address), within: .seconds(10), on: reactor)
    let request = """
      \(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)
      """
    // A fresh connection's buffer has room for any request of these tests.
    #expect(Array(request.utf8).withUnsafeBytes { socket.write($0) } == .bytes(request.utf8.count))
    let text = String(decoding: try await readToEnd(of: socket, on: reactor), as: UTF8.self)
    let parts = text.components(separatedBy: "\r\n\r\n")
    return Answer(status: Int(text.dropFirst(9).prefix(3)) ?? 0, body: parts.dropFirst().joined())
  }

  private static func readToEnd(of socket: Socket, on reactor: isolated Reactor) async throws -> [UInt8] {
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      switch buffer.withUnsafeMutableBytes({ socket.read(into: $0) }) {
      case .bytes(let count): received += buffer[..<count]
      case .endOfStream: return received
      case .wouldBlock: _ = try await reactor.waitForReadiness(of: socket.descriptor, .read, for: .seconds(20))
      case .failed(let error): throw error
      }
    }
  }
}
