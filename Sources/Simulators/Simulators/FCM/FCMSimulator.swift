internal import Cryptography
internal import HTTP1
package import Logging
package import Reactors

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
    let routes = [ServiceRoutes(service: service).table(), FCMControlRoutes(service: service).table()]
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

/// The configuration of a simulator. Every value has a default.
package struct FCMSimulatorConfiguration: Sendable {
  /// The address of both of Google's endpoints, in plain HTTP/1.1. Port 0 lets the kernel choose.
  package var address = SocketAddress.anyLoopback

  /// The address of the control endpoint, which has no authentication: use a loopback address.
  package var controlAddress = SocketAddress.anyLoopback

  /// Service accounts as Google's JSON files. The project of the first is the one of registrations without one.
  package var serviceAccounts: [String] = []

  /// What assertions may be for, besides this simulator's and Google's token endpoint.
  package var audiences: Set<String> = []

  /// Whether a well-formed unknown token is registered by its first message.
  package var acceptsAnyToken = false

  /// The number of records kept. 10,000: some 20 MB with the largest messages.
  package var recordsMax = 10_000

  package var logger = Logger(label: "fcm")

  package init() {}
}

/// A document that the simulator does not take.
package struct FCMSimulatorError: Error, Equatable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ problem: ProblemDetails) {
    description = problem.detail ?? problem.title
  }
}

extension SimulatedFCM {
  /// Registers a service account, and its project unless it is known.
  /// - Parameter json: Google's file.
  /// - Throws: ``FCMSimulatorError`` that names the mistake.
  package func addServiceAccount(_ json: String) throws {
    do {
      try add(decodeControl(AccountDocument.self, from: Array(json.utf8)))
    } catch let problem as ProblemDetails {
      throw FCMSimulatorError(problem)
    }
  }
}

/// Google's file of a new service account.
struct AccountFile: Encodable {
  let type = "service_account"
  let projectID: String
  let privateKeyID: String
  let privateKey = RSAPrivateKey().pem
  let clientEmail: String
  let tokenURI: String

  enum CodingKeys: String, CodingKey {
    case type
    case projectID = "project_id"
    case privateKeyID = "private_key_id"
    case privateKey = "private_key"
    case clientEmail = "client_email"
    case tokenURI = "token_uri"
  }

  /// An account of the project that may send.
  init(project: String, tokenURI: String) {
    projectID = project
    privateKeyID = (0..<20).map { _ in "0123456789abcdef".randomElement().map(String.init) ?? "" }.joined()
    clientEmail = "push@\(project).iam.gserviceaccount.com"
    self.tokenURI = tokenURI
  }
}
