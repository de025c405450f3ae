import FoundationEssentials
import HTTP1
import HTTPTransfers
import HTTPTypes
import Logging
import PushRules
import Reactors
import Synchronization
import TestLogs

@testable import API

/// A service with one operation for clients, an issuer's key set on another server, and clocks that can be set.
final class TokenRig: Sendable {
  let keys: KeySetServer
  let clock: TestClock
  let lines: LogLines
  /// Of the service.
  let reactors: [Reactor]
  let verifier: ClientTokenVerifier
  let keySet: RemoteKeySet
  private let service: HTTPService
  private let client: ReactorBound<HTTPTransferClient>
  private let asked = Mutex(0)

  /// What a caller was told.
  struct Outcome: Sendable, Equatable, CustomStringConvertible {
    let status: Int
    let text: String
    let challenge: String?

    var description: String { "\(status) \(text)" }
  }

  private init(
    _ group: ReactorGroup, _ keys: KeySetServer, origin: SocketAddress, _ requirements: TokenRequirements,
    hasSecret: Bool, hasKeySet: Bool
  ) async throws {
    self.keys = keys
    let (clock, lines) = (TestClock(), LogLines())
    (self.clock, self.lines) = (clock, lines)
    reactors = Array(group.reactors.dropLast())
    let transfers = try await reactors[0].perform { ReactorBound(HTTPTransferClient(on: $0), on: $0) }
    keySet = RemoteKeySet(
      url: "http://\(origin)\(KeySetServer.path)", transfers: transfers, logger: lines.logger,
      clock: { clock.monotonic })
    verifier = try await ClientTokenVerifier(
      requirements, secret: hasSecret ? TokenForge.secret : nil, keySet: hasKeySet ? keySet : nil, reactors: reactors,
      clock: { clock.wall })
    service = try await Self.start(Self.routes(verifier), on: reactors)
    client = try await group.reactors[reactors.count].perform { ReactorBound(HTTPTransferClient(on: $0), on: $0) }
  }

  /// Runs a test.
  /// - Parameter reactorCount: of the service; the issuer has one more.
  static func run(
    hasSecret: Bool = true, hasKeySet: Bool = true,
    requirements: TokenRequirements = TokenRequirements(audiences: ["authenticated"], user: uuidUser),
    reactorCount: Int = 1,
    publishing document: String = APITests.keySet(), _ test: (TokenRig) async throws -> Void
  ) async throws {
    let group = try ReactorGroup(count: reactorCount + 1)
    let keys = KeySetServer()
    keys.publish(document)
    let result: Result<Void, any Error>
    do {
      let issuer = try await start(keys.routes, on: [group.reactors[reactorCount]])
      let rig = try await TokenRig(
        group, keys, origin: issuer.address, requirements, hasSecret: hasSecret, hasKeySet: hasKeySet)
      result = .success(try await test(rig))
      _ = await rig.service.drain(within: .seconds(5))
      _ = await issuer.drain(within: .seconds(5))
    } catch {
      result = .failure(error)
    }
    await group.stop()
    try result.get()
  }

  private static func start(_ routes: HTTPRoutes, on reactors: [Reactor]) async throws -> HTTPService {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0), let loopback = IPNetwork("127.0.0.1") else {
      preconditionFailure("loopback is an address")
    }
    var configuration = HTTPServiceConfiguration()
    configuration.proxies.networks = [loopback]
    return try await HTTPService.start(
      routes, on: address, reactors: reactors, configuration: configuration,
      logger: RunLogs.logger)
  }

  /// An operation that tells its caller who they are.
  private static func routes(_ verifier: ClientTokenVerifier) -> HTTPRoutes {
    let logger = RunLogs.logger
    var group = RouteGroup(
      callers: CallerAuthentication(clients: verifier, services: BearerKeys([])), workers: WorkerTokens([]),
      logger: logger)
    group.addForClients(.get, "/whoami") { user, _, _ in
      HTTPServerResponse(status: .ok, body: Array(user.text.utf8))
    }
    return group.routes
  }

  /// Asks who the bearer of a token is. Each request comes from another address, so that nobody fails too often.
  func ask(_ token: String?) async throws -> Outcome {
    let number = asked.withLock { number in
      number += 1
      return number
    }
    var fields: HTTPFields = [.forwardedFor: "10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"]
    if let token { fields[.authorization] = "Bearer \(token)" }
    let request = HTTPTransferRequest(url: "http://\(service.address)/whoami", fields: fields, deadline: .seconds(30))
    let response = try await client.reactor.perform { [client] reactor in
      try await client.value(on: reactor).send(request, on: reactor)
    }
    return Outcome(
      status: response.status.code, text: String(decoding: response.body, as: UTF8.self),
      challenge: response.fields[.wwwAuthenticate])
  }
}

extension HTTPField.Name {
  fileprivate static let forwardedFor = Self("x-forwarded-for")!
}

/// Clocks that stand still until they are set.
final class TestClock: Sendable {
  private let seconds = Mutex<UInt64>(0)

  /// Unix seconds.
  var wall: Double { TokenForge.now + Double(seconds.withLock { $0 }) }

  /// Nanoseconds.
  var monotonic: UInt64 { seconds.withLock { $0 * 1_000_000_000 } }

  func advance(by count: UInt64) { seconds.withLock { $0 += count } }
}

/// Users whom a database calls by uuids.
@Sendable func uuidUser(_ subject: String) -> String? { IDTypes().users.id(subject)?.text }
