import Cryptography
import FoundationEssentials
import HTTP2
import Logging
import PushRules
import Reactors
import TestProcesses
import TestReactors

@testable import Channels

/// An APNs of this process: it keeps every request, and answers as the test says.
final class ScriptedAPNs: HTTP2RequestHandler {
  /// One request, and the connection it came on.
  struct Received {
    let request: HTTP2ServerRequest
    let connection: HTTP2ServerConnection
    /// Counted from 0 in the order of their handshakes.
    let connectionNumber: Int

    var identifier: String? { request.fields["apns-id"] }
  }

  /// What to do with a request.
  enum Reply {
    case answer(Int, String)
    /// 403 with this reason and `date`.
    case refuse(String, date: String)
    case goAwayAndAnswer
    /// A GOAWAY that says that the request was not processed.
    case goAway
    case closeAbruptly
    case wait
  }

  var reply: (Received) -> Reply = { _ in .answer(200, "") }
  /// The debug data of a GOAWAY that every new connection gets at once.
  var greeting: String?
  /// Streams that a connection may have.
  var streamsMax = 1000
  private(set) var requests: [Received] = []
  private(set) var connections: [HTTP2ServerConnection] = []
  private(set) var closedConnections = 0
  private(set) var accepted: [String] = []
  private let changed = Signal()
  private var listener: HTTP2Listener?
  private let authority: CertificateAuthority
  let port: UInt16

  /// - Parameter other: one whose authority certifies this one too.
  init(like other: ScriptedAPNs? = nil) throws {
    authority = try other?.authority ?? CertificateAuthority(name: "Test authority")
    port = try reservedPort()
  }

  /// Listens, again after a stop.
  func start(on reactor: isolated Reactor) throws {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: port) else { throw TestFailure("no address") }
    var configuration = HTTP2ServerConfiguration()
    configuration.streamsMax = streamsMax
    listener = try HTTP2Listener(
      on: address, context: try serverContext(protocols: ["h2"]), configuration: configuration, handler: self,
      reactor: reactor)
  }

  /// Stops listening; open connections stay.
  func stop(on reactor: isolated Reactor) {
    listener?.stop(on: reactor)
    listener = nil
  }

  /// What believes this server.
  func clientContext() throws -> TLSContext {
    try TLSContext(trusting: .systemAnd(.text(authority.certificate)), protocols: ["h2"])
  }

  func serverContext(protocols: [String]) throws -> TLSContext {
    let identity = try authority.issue(for: ["127.0.0.1"])
    return try TLSContext(certificate: .text(identity.certificate), key: .text(identity.key), protocols: protocols)
  }

  /// Runs a test's body with a server and a client that believes it, which has no connection yet.
  static func run<Result: Sendable>(
    _ body: @escaping @Sendable (ScriptedAPNs, APNSClient, isolated Reactor) async throws -> Result
  ) async throws -> Result {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      return try await body(apns, apns.client(), reactor)
    }
  }

  /// A client that believes this server, or the one whose authority is given.
  func client(
    believing other: ScriptedAPNs? = nil, port: UInt16? = nil, tokens: ProviderTokenSource? = nil,
    configure: (inout APNSConfiguration) -> Void = { _ in }
  ) async throws -> APNSClient {
    var configuration = APNSConfiguration()
    configure(&configuration)
    let context = try (other ?? self).clientContext()
    let source: ProviderTokenSource
    if let tokens { source = tokens } else { source = try ProviderTokenSource(.make()) }
    return APNSClient(
      endpoints: [.production: APNSEndpoint(host: "127.0.0.1", port: port ?? self.port)],
      context: context, tokens: source, configuration: configuration,
      logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
  }

  func connectionOpened(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {
    connections.append(connection)
    if let greeting { connection.goAway(lastStreamID: 0, debugData: Array(greeting.utf8), on: reactor) }
    changed.signal(on: reactor)
  }

  func requestReceived(
    _ request: HTTP2ServerRequest, from connection: HTTP2ServerConnection, on reactor: isolated Reactor
  ) {
    let number = connections.firstIndex { $0 === connection } ?? -1
    let received = Received(request: request, connection: connection, connectionNumber: number)
    requests.append(received)
    changed.signal(on: reactor)
    switch reply(received) {
    case .answer(let status, let body): answer(received, status, body, on: reactor)
    case .refuse(let reason, let date):
      connection.respond(
        to: request.streamID, status: 403, fields: ["date": date], body: Array(#"{"reason":"\#(reason)"}"#.utf8),
        on: reactor)
    case .goAway: connection.goAway(lastStreamID: 0, on: reactor)
    case .goAwayAndAnswer:
      connection.goAway(lastStreamID: request.streamID, on: reactor)
      answer(received, 200, "", on: reactor)
    case .closeAbruptly: connection.closeAbruptly(on: reactor)
    case .wait: break
    }
  }

  func connectionClosed(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {
    closedConnections += 1
    changed.signal(on: reactor)
  }

  /// Answers a request that waited.
  func answer(_ received: Received, _ status: Int = 200, _ body: String = "", on reactor: isolated Reactor) {
    if status == 200 { accepted.append(received.identifier ?? "") }
    let name = received.request.path.hasPrefix("/3/") ? "apns-id" : "apns-request-id"
    received.connection.respond(
      to: received.request.streamID, status: status, fields: [name: received.identifier ?? ""],
      body: Array(body.utf8), on: reactor)
  }

  /// Opens a client's connection and waits until both sides have it.
  func connected(_ client: APNSClient, on reactor: isolated Reactor) async throws {
    client.warmUp(.production, on: reactor)
    try await wait("connection", on: reactor) { !connections.isEmpty }
    while !client.isConnected(to: .production) { await reactor.sleep(for: .milliseconds(1)) }
  }

  /// Waits until so many connections were opened since the start.
  func opened(_ count: Int, on reactor: isolated Reactor) async throws {
    try await wait("connections", on: reactor) { connections.count >= count }
  }

  /// Waits until so many requests have arrived since the start.
  func received(_ count: Int, on reactor: isolated Reactor) async throws {
    try await wait("requests", on: reactor) { requests.count >= count }
  }

  /// Waits until so many connections were opened and closed.
  func closed(_ count: Int, on reactor: isolated Reactor) async throws {
    try await wait("closed connections", on: reactor) { closedConnections >= count }
  }

  private func wait(_ what: String, on reactor: isolated Reactor, until isDone: () -> Bool) async throws {
    while !isDone() {
      guard await changed.wait(for: .seconds(30), on: reactor) else { throw TestFailure("no \(what)") }
    }
  }
}

/// Pushes under way, and what became of them.
final class Attempts {
  private(set) var all: [Int: APNSOutcome] = [:]
  private var started = 0
  private let changed = Signal()

  /// Starts so many pushes at once.
  func send(
    _ count: Int, over client: APNSClient, within limit: Duration = .seconds(10), on reactor: isolated Reactor
  ) throws {
    for number in started..<(started + count) {
      let request = try APNSRequest.make(number)
      reactor.start { [self] in
        all[number] = await client.send(request, to: .production, within: limit, on: reactor)
        changed.signal(on: reactor)
      }
    }
    started += count
  }

  /// Waits until every push has its outcome, or so many have.
  func finished(_ count: Int? = nil, on reactor: isolated Reactor) async throws {
    while all.count < count ?? started {
      guard await changed.wait(for: .seconds(30), on: reactor) else { throw TestFailure("\(all.count) outcomes") }
    }
  }

  var acceptedCount: Int { all.values.count { $0.disposition == .accepted } }
}

extension APNSClient {
  /// Sends a push that has so much time from now.
  func send(
    _ request: APNSRequest, to environment: APNSEnvironment, within limit: Duration = .seconds(10),
    on reactor: isolated Reactor
  ) async -> APNSOutcome {
    await send(request, to: environment, until: Reactor.now &+ limit.clampedNanoseconds, on: reactor)
  }
}

extension APNSRequest {
  /// A push to the device with this number.
  static func make(_ number: Int = 0) throws -> APNSRequest {
    let token = try DeviceToken("aa" + String(1000 + number))
    return try APNSRequest(
      .alert, Array(#"{"aps":{"badge":\#(number)}}"#.utf8), to: token, of: BundleIdentifier("com.example.app"),
      expiresAt: 1_700_000_000,
      identifier: PushIdentifier(eventKind: "message", event: "e", recipient: "r", deviceToken: token),
      collapseIdentifier: CollapseIdentifier("collapse"))
  }
}

extension APNSOutcome {
  var isNotProcessed: Bool {
    if case .notProcessed = self { true } else { false }
  }
}

/// A provider token taken apart.
struct SignedToken {
  struct Header: Decodable, Equatable {
    let alg: String
    let kid: String
  }

  let header: [String: String]
  let claims: [String: Claim]
  private let signed: String
  private let signature: Data

  /// A claim is a text or a whole number.
  enum Claim: Decodable, Equatable {
    case text(String)
    case number(Int64)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(Int64.self) {
        self = .number(number)
      } else {
        self = .text(try container.decode(String.self))
      }
    }
  }

  init(_ text: String) throws {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 else { throw TestFailure("\(parts.count) parts") }
    header = try JSONDecoder().decode([String: String].self, from: try Self.decode(parts[0]))
    claims = try JSONDecoder().decode([String: Claim].self, from: try Self.decode(parts[1]))
    signed = parts[0] + "." + parts[1]
    signature = try Self.decode(parts[2])
  }

  func isSigned(by key: P256PublicKey) -> Bool {
    ES256Signature(raw: Array(signature)).map { key.verifies($0, of: Array(signed.utf8)) } ?? false
  }

  /// Base64url without padding (RFC 7515, appendix C).
  private static func decode(_ text: String) throws -> Data {
    guard !text.contains("=") else { throw TestFailure("padded") }
    var text = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }.map(String.init).joined()
    while !text.utf8.count.isMultiple(of: 4) { text += "=" }
    guard let data = Data(base64Encoded: text) else { throw TestFailure("not base64url") }
    return data
  }
}

extension ProviderCredentials {
  /// Credentials with a key of this process.
  static func make(_ key: P256PrivateKey = P256PrivateKey()) throws -> ProviderCredentials {
    try ProviderCredentials(
      keyIdentifier: "ABC123DEFG", teamIdentifier: "DEF123GHIJ", privateKey: key.pem)
  }
}

extension ProviderToken {
  /// `bearer old`, made so many seconds ago by a clock that was set since.
  static func aged(_ seconds: Int64, clockSetBy step: Int64 = 0) -> ProviderToken {
    ProviderToken(
      authorization: "bearer old", mintedAt: Reactor.now &- UInt64(seconds) * 1_000_000_000,
      issuedAt: ClockDifference.wallSeconds - seconds - step)
  }
}

extension ProviderTokenSource {
  /// A source with a key of this process and a token that exists.
  static func holding(_ token: ProviderToken) throws -> ProviderTokenSource {
    ProviderTokenSource(try .make(), schedule: ProviderTokenSchedule(draw: 0.5), current: token)
  }
}

/// Something a test waited for did not come.
struct TestFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
