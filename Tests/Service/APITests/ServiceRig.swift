import API
import Campaigns
import Channels
import Foundation
import FoundationEssentials
import Glibc
import HTTP1
import Logging
import Postgres
import PushPipeline
import PushRules
import PushStore
import Reactors
import Synchronization
import TestIDs
import TestLogs
import TestPostgres
import TestProcesses
import TestRepository
import Testing

/// The HTTP service in front of a pipeline, with a channel that accepts or holds; one reactor.
final class ServiceRig: Sendable {
  static let secret = "secret of the tests"
  static let serviceKey = "service key of the tests"

  let server: TestPostgres?
  let database: String
  let port: UInt16
  let parts: ReactorBound<Parts>
  /// What the service answers.
  let operations: [HTTPOperation]

  /// What lives on the reactor.
  final class Parts {
    let pool: PostgresPool
    let callerPool: PostgresPool
    let store: PushDatabase
    let channel = GatedChannel()
    let pipeline: DeliveryPipeline
    let campaigns: CampaignRunner
    var checks: [ReadinessCheck] = []

    var isStarted = false

    init(_ conninfo: String, polls: Bool, acquireLimit: Duration, on reactor: isolated Reactor) throws {
      let logger = RunLogs.logger
      let database = PostgresConfiguration(conninfo: conninfo)
      database.chosenTypes = IDTypes.tested.postgresTypes
      pool = PostgresPool(database, size: 3, acquireLimit: acquireLimit, logger: logger)
      callerPool = PostgresPool(database, size: 2, acquireLimit: acquireLimit, logger: logger)
      for pool in [pool, callerPool] { pool.start(on: reactor) }
      store = PushDatabase(pool: pool)
      var configuration = PipelineConfiguration(policy: SuppressionPolicy())
      let route = PushRoute(app: try BundleIdentifier("com.example.app"), environment: .production)
      if !polls { (configuration.schedule.shortest, configuration.schedule.longest) = (.seconds(3600), .seconds(3600)) }
      let pipeline = DeliveryPipeline(
        store: store, deliverers: [APNSDeliverer(channel, places: APNSPlaces(defaultRoute: route))],
        configuration: configuration, logger: logger)
      self.pipeline = pipeline
      let bound = ReactorBound(pipeline, on: reactor)
      campaigns = CampaignRunner(
        store: store, writer: nil, limits: ModelUsageLimits(tokensMax: 0, costMicrodollarsMax: 0), logger: logger,
        queued: { bound.value(on: $0).wake(.due, on: $0) })
    }
  }

  /// Browsers of Mozilla and of this machine, and Android.
  private static func registrations() throws -> [TargetRegistration] {
    let browsers = TargetRegistration.webPush(
      publicKey: publicKey, hosts: try WebPushHosts(parsing: "*.push.services.mozilla.com, 127.0.0.1:8443"),
      links: try WebPushLinks(template: "https://chat.example.com/c/{conversation_id}"))
    return [browsers, .fcm]
  }

  /// What browsers subscribe with.
  static let publicKey = "BEl62iUYgUivxIkv69yViEuiBIa-Ib9-SkvMeAtA3LFgDzkrxZJjSgSnfckjBJuBkr3qBUYIHBQFLXYp5Nksh8U"

  private init(
    server: TestPostgres?, database: String, port: UInt16, parts: ReactorBound<Parts>, operations: [HTTPOperation]
  ) {
    self.server = server
    self.database = database
    self.port = port
    self.parts = parts
    self.operations = operations
  }

  /// Runs a test's body against a service; without a database nobody listens where it should be.
  /// - Parameter polls: whether the pipeline looks for work that nothing tells it of.
  static func run(
    hasDatabase: Bool = true, hasCampaigns: Bool = true, polls: Bool = true, wait: Duration = .seconds(60),
    pages: @Sendable (inout HTTPRoutes, PerReactor<PushServices>) -> Void = { _, _ in },
    _ body: @Sendable (ServiceRig) async throws -> Void
  ) async throws {
    let scratch = hasDatabase ? try await TestPostgres.shared.makeMigratedDatabase() : nil
    defer { withExtendedLifetime(scratch) {} }
    let (server, conninfo) = (scratch?.server, scratch?.conninfo ?? "host=/nowhere user=nobody")
    let group = try ReactorGroup(count: 1)
    let result: Result<Void, any Error>
    do {
      result = .success(
        try await serve(server, conninfo, hasCampaigns, polls: polls, wait: wait, pages: pages, on: group, body))
    } catch {
      result = .failure(error)
    }
    await group.stop()
    try result.get()
  }

  private static func serve(
    _ server: TestPostgres?, _ conninfo: String, _ hasCampaigns: Bool, polls: Bool, wait: Duration,
    pages: @Sendable (inout HTTPRoutes, PerReactor<PushServices>) -> Void, on group: ReactorGroup,
    _ body: @Sendable (ServiceRig) async throws -> Void
  ) async throws {
    let logger = RunLogs.logger
    let parts = try await PerReactor(group.reactors) { _, reactor in
      // Where there is no database, nobody is to wait for it.
      let acquireLimit = server == nil ? Duration.milliseconds(200) : .seconds(60)
      return try Parts(conninfo, polls: polls, acquireLimit: acquireLimit, on: reactor)
    }
    for key in [secret, serviceKey] { RunLogs.note(key, as: .secret) }
    let services = try await PerReactor(group.reactors) { _, reactor in
      let bound = parts.all[0]
      let parts = parts.value(on: reactor)
      let wake = { bound.submit { $0.campaigns.wake(on: $1) } }
      return PushServices(
        callers: PushDatabase(pool: parts.callerPool), operators: parts.store, counts: parts.store,
        pipeline: PipelineHandle(parts.pipeline, on: reactor),
        wakeCampaigns: hasCampaigns ? wake : nil,
        slots: SlotScheduler(store: PushDatabase(pool: parts.callerPool), logger: logger), logger: logger,
        readiness: { parts.checks })
    }
    var routes = PushRoutes.make(
      services: services,
      authentication: WebhookAuthentication([.init(bearer: secret, signingKey: Array(secret.utf8))]),
      callers: CallerAuthentication(clients: PlainTokens(), services: BearerKeys([serviceKey])),
      webhookWait: wait, devicesPerUserMax: 2, registrations: try Self.registrations(),
      metrics: { "reactor_name{name=\"\($0.name)\"} 1\n" }, logger: logger)
    let operations = routes.operations
    pages(&routes, services)
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { throw TestFailure("no address") }
    let http = try await HTTPService.start(routes, on: address, reactors: group.reactors, logger: logger)
    let database = conninfo.split(separator: "dbname=").last.map(String.init) ?? ""
    let rig = ServiceRig(
      server: server, database: database, port: http.address.port, parts: parts.all[0], operations: operations)
    try await body(rig)
    _ = await http.drain(within: .seconds(5))
    await rig.parts.perform { parts, reactor in
      parts.channel.release(on: reactor)
      parts.campaigns.stop(on: reactor)
      _ = await parts.campaigns.drain(within: .seconds(5), on: reactor)
      if parts.isStarted { _ = await parts.pipeline.drain(within: .seconds(5), on: reactor) }
      for pool in [parts.callerPool, parts.pool] { await pool.close(on: reactor) }
    }
  }

  /// Makes the pipeline work until the rig is done.
  func startPipeline() {
    parts.submit { parts, reactor in
      parts.isStarted = true
      await parts.pipeline.run(on: reactor)
    }
  }

  /// Makes campaigns look at those who are noted until the rig is done.
  func startCampaigns() {
    parts.submit { parts, reactor in await parts.campaigns.run(on: reactor) }
  }

  /// Posts a webhook with the right secret.
  func webhook(_ body: String, prefer: String? = nil) async throws -> PlainResponse {
    var fields = ["Authorization": "Bearer \(Self.secret)", "Content-Type": "application/json"]
    fields["Prefer"] = prefer
    return try await described("POST", "/v1/webhooks/messages", fields: fields, body: body)
  }

  /// Asks as a client of a user, or as another server when there is no user.
  func ask(
    _ method: String, _ path: String, as user: String? = nil, body: String = "", fields: [String: String] = [:]
  ) async throws -> PlainResponse {
    var fields = fields
    fields["Authorization"] = "Bearer \(user ?? Self.serviceKey)"
    if !body.isEmpty { fields["Content-Type"] = "application/json" }
    return try await described(method, path, fields: fields, body: body)
  }

  /// Asks, and fails the test when the answer is another than the description allows.
  private func described(
    _ method: String, _ path: String, fields: [String: String], body: String
  ) async throws -> PlainResponse {
    let answer = try await PlainClient.ask(method, path, fields: fields, body: body, port: port)
    if let description = try InterfaceDescription.shared.operation(method, path) {
      #expect(description.faults(of: answer) == [], "\(method) \(path)")
    }
    return answer
  }

  /// Runs SQL in the service's database; what it printed.
  @discardableResult
  func psql(_ sql: String) async throws -> String {
    guard let server else { throw TestFailure("this rig has no database") }
    return try await server.psql(IDTypes.tested(sql), database: database)
  }

  /// Waits until a query says so; nothing announces what a table has.
  func wait(for answer: String, to query: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while case let said = try await psql(query), said != answer + "\n" {
      try #require(
        ContinuousClock.now < deadline, "\(query): \(said) instead of \(answer)", sourceLocation: sourceLocation)
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// A conversation of two with one message for the second; lower-case ids as the database prints them.
  func makeMessage() async throws -> (message: String, recipient: String) {
    let ids = (0..<4).map { _ in HostID.new().text }
    try await psql(
      """
      insert into public.profiles (id, name) values ('\(ids[0])', 'Ann'), ('\(ids[1])', 'Ben');
      insert into public.conversations (id) values ('\(ids[2])');
      insert into public.conversation_participants (conversation_id, user_id)
        values ('\(ids[2])', '\(ids[0])'), ('\(ids[2])', '\(ids[1])');
      insert into public.push_tokens (user_id, device_token) values ('\(ids[1])', '\(ids[1].filter { $0 != "-" })');
      insert into public.messages (id, conversation_id, from_id, text)
        values ('\(ids[3])', '\(ids[2])', '\(ids[0])', 'Hello');
      """)
    return (ids[3], ids[1])
  }
}

/// Accepts every push, at once or when it is let go, unless it was told another answer.
final class GatedChannel: APNSSender {
  var holds = false
  /// What the next pushes are answered, one each.
  var answers: [APNSAnswer] = []
  private(set) var requests: [APNSRequest] = []
  var count: Int { requests.count }
  private var held: [Signal] = []
  private let arrived = Signal()

  func send(
    _ request: APNSRequest, over route: PushRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> APNSOutcome {
    requests.append(request)
    arrived.signal(on: reactor)
    if holds {
      let signal = Signal()
      held.append(signal)
      _ = await signal.wait(on: reactor)
    }
    return .answered(answers.isEmpty ? APNSAnswer(status: 200) : answers.removeFirst())
  }

  /// Waits a minute for the first push; whether there is one.
  func requested(on reactor: isolated Reactor) async -> Bool {
    if requests.isEmpty { _ = await arrived.wait(for: .seconds(60), on: reactor) }
    return !requests.isEmpty
  }

  func release(on reactor: isolated Reactor) {
    holds = false
    for signal in held { signal.signal(on: reactor) }
    held.removeAll()
  }
}

/// Clients' tokens that are just the id of their user; `unavailable` plays keys that cannot be had.
struct PlainTokens: ClientVerifier {
  func userID(of token: String, on reactor: isolated Reactor) async throws(ClientTokenError) -> String {
    if token == "unavailable" { throw ClientTokenError(.unavailable, "no keys") }
    guard let user = IDTypes.tested.users.id(token) else { throw ClientTokenError(.invalid, "it is no token") }
    return user.text
  }
}

/// Something a test waited for did not come.
struct TestFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// What a service answered, taken apart.
struct PlainResponse {
  let status: Int
  /// Names in lower case.
  let fields: [String: String]
  let body: String

  init(_ text: String) throws {
    let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw TestFailure("no header in: \(text)") }
    var lines = parts[0].split(separator: "\r\n")
    let words = lines.removeFirst().split(separator: " ")
    guard words.count > 1, let status = Int(words[1]) else { throw TestFailure("no status in: \(text)") }
    self.status = status
    var fields: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1)
      fields[parts[0].lowercased()] = parts.last.map { $0.trimmingPrefix(" ") }.map(String.init)
    }
    self.fields = fields
    body = String(parts[1])
  }

  /// The body as JSON of this shape.
  func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(body.utf8))
  }
}

/// The simplest HTTP client there is: one request, one connection, read to the end.
enum PlainClient {
  static func ask(
    _ method: String, _ path: String, host: String = "localhost", fields: [String: String] = [:], body: String = "",
    port: UInt16
  ) async throws -> PlainResponse {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
    for (name, value) in fields { text += "\(name): \(value)\r\n" }
    if !body.isEmpty { text += "Content-Length: \(body.utf8.count)\r\n" }
    return try await exchange(Array((text + "\r\n" + body).utf8), port: port)
  }

  private static func exchange(_ request: [UInt8], port: UInt16) async throws -> PlainResponse {
    // Not on the pool's few threads: what the answer waits for may need one of them.
    try await onOwnThread {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      guard inet_pton(AF_INET, "127.0.0.1", &address.sin_addr) == 1 else { throw TestFailure("no address") }
      let isConnected = withUnsafeBytes(of: &address) { bytes in
        connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)) == 0
      }
      guard isConnected, write(descriptor, request, request.count) == request.count else {
        throw TestFailure("cannot ask: errno \(errno)")
      }
      return try PlainResponse(String(decoding: Self.readToEnd(descriptor), as: UTF8.self))
    }
  }

  private static func readToEnd(_ descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }
}

extension ServiceRig {
  /// The tables of the campaign `coach`, which waits for requests and writes from a template.
  func makeCoach() async throws {
    let path = Repository.file("db/examples/coach.sql").path
    try await psql("\\i '\(path)'")
    try await psql(
      """
      update tacet.campaigns
      set is_scheduled = false, definition = '{"layers": ["re_engagement"],
        "texts": [{"title": "A moment for you", "body": "Shall we talk about {domain}?"}],
        "payload": {"action": "new_conversation"}}'
      where name = 'coach'
      """)
  }

  /// Somebody with whom the coach spoke four days ago; lower case, as the database prints ids.
  func makeCoachedUser(isWilling: Bool = true) async throws -> String {
    let (user, conversation) = (HostID.new().text, HostID.new().text)
    try await psql(
      """
      set session_replication_role = replica;
      insert into profiles (id, name) values ('\(user)', 'Ada');
      insert into push_tokens (user_id, device_token) values ('\(user)', '\(user.filter { $0 != "-" })');
      insert into context_profiles (user_id, time_zone, context_summary, notification_preferences)
      values ('\(user)', '\(ZoneNearNoon.name)', 'Grows roses.',
        '{"check_ins_enabled": \(isWilling), "frequency": "daily"}');
      insert into conversations (id, owner_id, domain, created_at)
      values ('\(conversation)', '\(user)', 'garden', now() - interval '4 days');
      insert into messages (conversation_id, from_id, text, created_at)
      values ('\(conversation)', '\(user)', 'The tulips sleep.', now() - interval '4 days');
      """)
    return user
  }

}

extension ServiceRig {
  /// The tables of the campaign `ritual`, and its switch.
  func makeRituals() async throws {
    try await psql("\\i '\(try IDTypes.tested(Repository.file("db/examples/ritual.sql")).path)'")
  }

  /// A user with a device and a terrain; lower case, as the database prints ids.
  func makeRitualUser(token: String = "aa") async throws -> String {
    let user = try await makeUser()
    try await psql(
      """
      insert into terrain_profiles (user_id, terrain_type, nickname) values ('\(user)', 'cold_deficient', 'Low Flame');
      insert into push_tokens (user_id, device_token, time_zone) values ('\(user)', '\(token)', '\(ZoneNearNoon.name)');
      """)
    return user
  }
}

/// What `GET /v1/schedule` answers.
struct ScheduleDocument: Decodable {
  struct Row: Decodable {
    let identifier: String
    let campaign: String
    let slot: String
    let fire_date: String
    let fire_at: String
    let local_time: String
    let rendered_at: String
    let title: String
    let category: String
    let thread_id: String
    let data: Members
    let tolerance_seconds: Int
  }

  struct Members: Decodable {
    let type: String
    let slot: String
    let phase: String
    let micro_action: Int
  }

  let settings_hint: Bool
  let rows: [Row]
}

extension PlainResponse {
  /// The field that a problem names.
  var field: String? { body.firstMatch(of: /"field":"([^"]+)"/).map { String($0.1) } }
}
