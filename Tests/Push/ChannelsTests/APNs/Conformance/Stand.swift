import Channels
import Cryptography
import Foundation
import HTTP2
import Logging
import PushRules
import Reactors
import Simulators
import Synchronization
import TestAPNSCases
import TestIDs
import TestPostgres
import TestRepository

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
  var records: [APNSPushRecord] { service.withLog { $0.records(PushQuery()).records } }
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

/// Pushes of our client under way, and what became of them.
final class ClientPushes {
  private let client: APNSClient
  /// For a push that a dead connection holds up, too.
  private let limit = Duration.seconds(20)
  private var sent = 0
  private let changed = Signal()
  /// By number, from 0 in the order of sending.
  private(set) var attempts: [Int: APNSOutcome] = [:]
  /// The identifier of each push, by its number.
  private(set) var identifiers: [String] = []

  init(_ client: APNSClient) {
    self.client = client
  }

  /// Starts so many pushes at once.
  func start(_ count: Int = 1, to token: String, on reactor: isolated Reactor) throws {
    for _ in 0..<count {
      let number = sent
      let request = try Self.request(number, to: token)
      identifiers.append(request.identifier.text)
      sent += 1
      reactor.start { [self] in
        attempts[number] = await client.send(
          request, to: .production, until: Reactor.now &+ limit.clampedNanoseconds, on: reactor)
        changed.signal(on: reactor)
      }
    }
  }

  /// Waits until every push has its end.
  func finish(within limit: Duration = .seconds(25), on reactor: isolated Reactor) async throws {
    while attempts.count < sent {
      guard await changed.wait(for: limit, on: reactor) else { throw CaseFailure("\(attempts.count) of \(sent) ended") }
    }
  }

  /// The same for so many pushes at once.
  func send(_ count: Int = 1, to token: String, on reactor: isolated Reactor) async throws {
    try start(count, to: token, on: reactor)
    try await finish(on: reactor)
  }

  var areAllAccepted: Bool { attempts.count == sent && attempts.values.allSatisfy { $0.disposition == .accepted } }

  private static func request(_ number: Int, to token: String) throws -> APNSRequest {
    let token = try DeviceToken(token)
    return try APNSRequest(
      .alert, Array(#"{"aps":{"alert":"\#(number)"}}"#.utf8), to: token, of: BundleIdentifier("com.example.app"),
      expiresAt: 0,
      identifier: PushIdentifier(eventKind: "case", event: "\(number)", recipient: "r", deviceToken: token),
      collapseIdentifier: CollapseIdentifier("collapse-\(number)"))
  }
}

/// A connection case as our client lives through it.
struct ClientScene {
  /// A token whose answers take their time.
  static let slowToken = "f0f0"

  let stand: Stand
  let client: APNSClient
  let pushes: ClientPushes
  let token: String
  let findings = Findings()

  /// A client that has had one push accepted, as far as the service allows it.
  static func begin(_ stand: Stand, on reactor: isolated Reactor) async throws -> ClientScene {
    let client = try await stand.client(on: reactor)
    let scene = ClientScene(
      stand: stand, client: client, pushes: ClientPushes(client), token: try stand.fixtures.deviceToken("ok"))
    try await scene.pushes.send(to: scene.token, on: reactor)
    guard scene.pushes.areAllAccepted else { throw CaseFailure("the first push: \(scene.pushes.attempts)") }
    return scene
  }

  var connectionsOpened: Int { client.connectionsOpened(to: .production) }

  /// Waits until the client has seen that its connection ends, which shows in the next one. Looks every few
  /// milliseconds: the client has no signal for it.
  func waitForConnection(_ count: Int, on reactor: isolated Reactor) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while connectionsOpened < count {
      guard ContinuousClock.now < deadline else { throw CaseFailure("no connection number \(count)") }
      await reactor.sleep(for: .milliseconds(5))
    }
  }

  /// How often the service judged each push, by number.
  var arrivals: [Int] {
    let counts = stand.records.reduce(into: [:]) { $0[$1.identifier, default: 0] += 1 }
    return pushes.identifiers.map { counts[$0] ?? 0 }
  }

  func expectAllAcceptedOnce() {
    findings.expect(pushes.areAllAccepted, "\(pushes.attempts)")
    findings.expect(arrivals.allSatisfy { $0 == 1 }, "arrivals \(arrivals)")
    findings.expect(Set(stand.records.map(\.identifier)).isSubset(of: pushes.identifiers), "a push changed its apns-id")
  }

  func strike(_ fault: ServerFault) {
    stand.simulator.connections.strike(fault)
  }

  func script(_ fault: ServerFault, skip: Int = 0) {
    stand.script(fault, skip: skip)
  }
}

extension Stand {
  func script(_ fault: ServerFault, skip: Int = 0) {
    service.withFaults { script in _ = script.arrange(.init(fault, skip: skip)) }
  }

  func registerSlowToken(delayMilliseconds: Int) {
    let device = RegisteredDevice(
      environment: .production, bundle: "com.example.app", delayMilliseconds: delayMilliseconds)
    service.withRegistry { registry in _ = registry.register(device, token: ClientScene.slowToken) }
  }
}

/// The table of device tokens as the service's migrations make it, with one token.
enum TokenTable {
  private static let user = "11111111-0000-4000-8000-000000000001"

  /// Registers a token, lets APNs' word about it arrive, and looks whether the token is still one to push to.
  /// - Parameters:
  ///   - registeredAt: when the app handed the token over, in milliseconds since 1970.
  ///   - invalidSince: since when the token is dead by APNs' word, likewise.
  static func isActive(_ token: String, registeredAt: Int, invalidSince: Int64) async throws -> Bool {
    let scratch = try await TestPostgres.shared.makeMigratedDatabase()
    try await scratch.server.psql(
      """
      insert into profiles (id) values ('\(user)');
      insert into push_tokens (user_id, device_token, registered_at)
      values ('\(user)', '\(token)', \(time(Int64(registeredAt))));
      """, database: scratch.name)
    try await scratch.server.psql(
      "select tacet.invalidate_device_token('\(token)', 'Unregistered', \(time(invalidSince)))",
      database: scratch.name)
    let count = try await scratch.server.psql(
      "select count(*) from tacet.device_tokens('\(user)')", database: scratch.name)
    return count.trimmingCharacters(in: .whitespacesAndNewlines) == "1"
  }

  private static func time(_ milliseconds: Int64) -> String { "to_timestamp(\(milliseconds) / 1000.0)" }
}

/// A request, what came back over the wire, and what the service recorded.
struct WireExchange {
  let request: InspectedRequest
  let response: HTTP2Response
  let record: APNSPushRecord

  /// The answer as our client reads it.
  var answer: APNSAnswer {
    APNSAnswer(status: response.status, identifier: response.fields["apns-id"], body: response.body)
  }

  func check(against expected: CaseFile.Mapping, _ findings: Findings) throws {
    let key = AnswerKey(expected)
    findings.expect(response.status == key.status, "status \(response.status)")
    let body = String(decoding: response.body, as: UTF8.self)
    findings.expect(body == Self.body(expected), "body \(body)")
    checkFields(expected, findings)
    checkIdentifier(expected, findings)
    if let priority = expected["effective_priority"] as? Int {
      findings.expect(record.priority == priority, "priority \(record.priority)")
    }
    if let isStored = expected["stored"] as? Bool {
      findings.expect(record.isStored == isStored, "stored \(record.isStored)")
    }
    findings.expect(record.status == key.status && record.reason == key.reason, "recorded as \(record)")
  }

  /// Nothing with a success, JSON with a reason, a proxy's text as it is.
  private static func body(_ expected: CaseFile.Mapping) -> String {
    if let raw = expected["raw_body"] as? String { return raw }
    guard let reason = expected["reason"] as? String else { return "" }
    let timestamp = (expected["timestamp_ms"] as? Int).map { ",\"timestamp\":\($0)" } ?? ""
    return "{\"reason\":\"\(reason)\"\(timestamp)}"
  }

  private func checkFields(_ expected: CaseFile.Mapping, _ findings: Findings) {
    for name in expected["headers_present"] as? [String] ?? [] {
      findings.expect(response.fields[name] != nil, "no \(name)")
    }
    for name in expected["headers_absent"] as? [String] ?? [] {
      findings.expect(response.fields[name] == nil, "\(name) \(response.fields[name] ?? "")")
    }
    let type = response.fields["content-type"]
    let isJSON = expected["reason"] != nil
    findings.expect(!isJSON || type == "application/json", "content-type \(type ?? "none")")
  }

  private func checkIdentifier(_ expected: CaseFile.Mapping, _ findings: Findings) {
    let identifier = response.fields["apns-id"] ?? ""
    let sent = request.fields.first { $0.name == "apns-id" }?.value
    findings.expect(UUID(uuidString: identifier) != nil, "apns-id \(identifier)")
    switch expected["apns_id"] as? String {
    case "generated":
      findings.expect(identifier != sent && identifier == identifier.uppercased(), "apns-id \(identifier)")
    case "echo": findings.expect(identifier == sent, "apns-id \(identifier)")
    default: break
    }
  }
}

extension HTTP2Request {
  /// Spaces at either end of a value cannot travel over HTTP/2 (RFC 9113 §8.2.1); a client drops them.
  init(_ request: InspectedRequest) {
    var fields = HTTP2Fields()
    for field in request.fields { fields.append(field.name, field.value.trimmingCharacters(in: .whitespaces)) }
    self.init(method: request.method, path: request.path, fields: fields, body: request.body)
  }
}
