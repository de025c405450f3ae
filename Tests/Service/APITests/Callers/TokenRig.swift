import Cryptography
import FoundationEssentials
import HTTP1
import HTTPTransfers
import HTTPTypes
import Logging
import PushRules
import Reactors
import Synchronization
import TestKeys
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
    let callers = CallerAuthentication(clients: verifier, services: BearerKeys([]))
    var routes = HTTPRoutes()
    routes.add(
      .get, "/whoami", bodyBytesMax: 1024,
      admission: { request, reactor in
        let user = try await callers.client(request, logger, on: reactor)
        return HTTPAdmitted { _, _ in HTTPServerResponse(status: .ok, body: Array(user.utf8)) }
      })
    return routes
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

/// Makes tokens of any shape, also such as no issuer would.
struct TokenForge {
  /// Computes a signature.
  typealias Signer = ([UInt8]) throws -> [UInt8]

  static let user = "3e1c2f60-8e0f-4f0a-b1a5-0d3a4b5c6d7e"
  static let secret = "a secret of at least thirty-two bytes"

  /// The time at which the forge's tokens hold, in Unix seconds.
  static let now = 1_800_000_000.0

  /// Claims as Supabase Auth issues them.
  static func claims(
    sub: String? = user, aud: String? = #""authenticated""#, exp: String? = "1800003600", nbf: String? = nil,
    iss: String? = "https://id.example/auth/v1"
  ) -> String {
    var members = [#""role":"authenticated""#, #""iat":1800000000"#]
    if let sub { members.append(#""sub":"\#(sub)""#) }
    if let aud { members.append(#""aud":\#(aud)"#) }
    if let exp { members.append(#""exp":\#(exp)"#) }
    if let nbf { members.append(#""nbf":\#(nbf)"#) }
    if let iss { members.append(#""iss":"\#(iss)""#) }
    return "{\(members.joined(separator: ","))}"
  }

  static func token(_ header: String, _ claims: String = claims(), signer: Signer) throws -> String {
    let signed = text(Array(header.utf8)) + "." + text(Array(claims.utf8))
    let token = signed + "." + text(try signer(Array(signed.utf8)))
    RunLogs.note(token, as: .clientToken)
    return token
  }

  /// A token of the shared secret.
  static func hs256(_ claims: String = claims(), header: String = #"{"alg":"HS256","typ":"JWT"}"#) throws -> String {
    try token(header, claims, signer: hmac(secret.utf8))
  }

  static func hmac(_ key: some Sequence<UInt8>) -> Signer {
    { HMACSHA256(key: Array(key)).code(for: $0).bytes }
  }

  static func text(_ bytes: some Collection<UInt8>) -> String { Base64URL.encode(bytes) }
}

/// An ES256 key of an issuer.
struct IssuerKey {
  let kid: String
  let key = P256PrivateKey()

  init(_ kid: String) { self.kid = kid }

  func token(_ claims: String = TokenForge.claims(), header: String? = nil) throws -> String {
    try TokenForge.token(header ?? #"{"alg":"ES256","kid":"\#(kid)","typ":"JWT"}"#, claims) {
      try key.sign($0).raw
    }
  }

  /// A header with a key to be used, which nobody should.
  var bringingItself: String { #"{"alg":"ES256","kid":"\#(kid)","jwk":\#(published())}"# }

  /// A header with an extension that has to be understood.
  var critical: String { #"{"alg":"ES256","kid":"\#(kid)","crit":["exp"]}"# }

  /// The public key as it is published; members can be put into the place of others, and "" takes one out.
  func published(_ changes: [String: String] = [:]) -> String {
    let point = key.publicKey.x963.dropFirst()
    let members = [
      "kty": #""EC""#, "crv": #""P-256""#, "kid": #""\#(kid)""#, "use": #""sig""#, "alg": #""ES256""#,
      "x": #""\#(TokenForge.text(point.prefix(32)))""#, "y": #""\#(TokenForge.text(point.suffix(32)))""#,
    ]
    return json(members, changes)
  }
}

/// An RS256 key of an issuer; making one takes a while, so there is one.
struct RSAIssuerKey: Sendable {
  static let shared = RSAIssuerKey(kid: "rsa-1")

  let kid: String
  let key = RSATestKey(bits: 2048)

  func token(_ claims: String = TokenForge.claims(), header: String? = nil) throws -> String {
    try TokenForge.token(header ?? #"{"alg":"RS256","kid":"\#(kid)","typ":"JWT"}"#, claims) {
      key.sign($0)
    }
  }

  func published(_ changes: [String: String] = [:]) -> String {
    let members = [
      "kty": #""RSA""#, "kid": #""\#(kid)""#, "use": #""sig""#, "alg": #""RS256""#,
      "n": #""\#(TokenForge.text(key.modulus))""#,
      "e": #""\#(TokenForge.text(key.exponent))""#,
    ]
    return json(members, changes)
  }
}

/// A key set of these keys.
func keySet(_ keys: String...) -> String { #"{"keys":[\#(keys.joined(separator: ","))]}"# }

private func json(_ members: [String: String], _ changes: [String: String]) -> String {
  let members = members.merging(changes) { $1 }.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
  return "{" + members.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",") + "}"
}

/// What an issuer publishes at the moment.
final class KeySetServer: Sendable {
  static let path = "/auth/v1/.well-known/jwks.json"

  private struct State {
    var document = keySet()
    var status = HTTPResponse.Status.ok
    var count = 0
    var isHeld = false
    var held: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// How often it was asked.
  var count: Int { state.withLock { $0.count } }

  var routes: HTTPRoutes {
    var routes = HTTPRoutes()
    routes.add(.get, Self.path) { [self] _, _ in
      await begin()
      return state.withLock { HTTPServerResponse(status: $0.status, json: Array($0.document.utf8)) }
    }
    return routes
  }

  func publish(_ document: String) { state.withLock { $0.document = document } }

  /// Answers so from now on.
  func answer(_ status: HTTPResponse.Status) { state.withLock { $0.status = status } }

  /// Lets who asks wait for ``release()``.
  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    let held = state.withLock { state in
      defer { state.held = [] }
      state.isHeld = false
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  private func begin() async {
    await withCheckedContinuation { continuation in
      let goesOn = state.withLock { state in
        state.count += 1
        if state.isHeld { state.held.append(continuation) }
        return !state.isHeld
      }
      if goesOn { continuation.resume() }
    }
  }
}
