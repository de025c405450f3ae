import Cryptography
import Foundation
import FoundationNetworking
import Reactors
import Simulators
import Synchronization
import TestLogs
import TestPostgres
import TestProcesses
import Testing

/// How the service reaches its database.
enum DatabaseRoute: String, CaseIterable, Sendable {
  /// As the tests do.
  case direct
  /// Through a pooler in transaction mode, with fewer sessions than the service has connections.
  case pooled
}

/// A database, a simulator and a running service, with a conversation to write in.
final class ServiceScene: Sendable {
  static let secret = "webhook-secret-of-the-tests"
  static let bundle = "com.example.app"
  /// For what comes at once on a machine that has nothing else to do.
  static let patience = Duration.seconds(60)
  /// Between two looks at what nothing announces: a look takes a session of its own, and the processor from what is waited for.
  static let pause = Duration.milliseconds(20)
  /// Else a pooler that finds its server away refuses everybody for a quarter of a minute.
  private static let poolerComesBack = "server_login_retry = 0.1"

  private let current: Mutex<TestPostgres>
  private let standby: TestPostgres?
  let database: String
  let simulator: APNSSimulator
  let settings: [String: String]
  private let pooler: TestPgBouncer?

  /// Starts everything but the service.
  /// - Parameters:
  ///   - postgres: nil takes the cluster all tests share.
  ///   - standby: a server that follows it; the service knows both.
  ///   - port: of the simulator. 0 lets the kernel choose; one that is left for a while must not be the kernel's to
  ///     give away.
  ///   - host: SQL that makes an application's tables; nil has those of the default host made.
  ///   - migrateOptions: how `tacet migrate` is told of the types of the application's ids.
  init(
    postgres: TestPostgres? = nil, standby: TestPostgres? = nil, route: DatabaseRoute = .direct, port: UInt16 = 0,
    extra: [String: String] = [:], host: String? = nil, migrateOptions: [String] = []
  ) async throws {
    let primary: TestPostgres
    if let postgres { primary = postgres } else { primary = try await TestPostgres.shared }
    current = Mutex(primary)
    self.standby = standby
    let conninfo = try await primary.makeDatabase()
    let database = String(try #require(conninfo.split(separator: "=").last))
    self.database = database
    let key = P256PrivateKey()
    simulator = try APNSSimulator(try Self.configuration(key, port: port))
    let addresses = try await simulator.start()
    let folder = try makeTemporaryFolder("test-service")
    let authority = try #require(simulator.certificateAuthority)
    try authority.write(toFile: folder + "/ca.pem", atomically: true, encoding: .utf8)
    let port = try #require(addresses.listeners[.production]).port
    pooler =
      route == .direct
      ? nil : try await TestPgBouncer.launch(before: primary, settings: [Self.poolerComesBack])
    let both = standby.map { primary.conninfo(database: database, or: $0) }
    let reached = pooler?.conninfo(database: database) ?? both ?? conninfo
    settings = [
      "DATABASE_URL": reached, "DATABASE_POOL_MODE": pooler == nil ? "session" : "transaction",
      "WEBHOOK_SECRET": Self.secret, "LISTEN_ADDRESS": "127.0.0.1:0",
      // An outcome may take longer than the second of the default on a busy machine.
      "WEBHOOK_WAIT_MILLISECONDS": "20000",
      // Tests post many messages to one recipient and count a push for each, as `PipelineConfiguration.folding` says.
      "FOLD_WINDOW_SECONDS": "0",
      "APNS_KEY_ID": "KEY0000001", "APNS_TEAM_ID": "TEAM000001", "APNS_BUNDLE_ID": Self.bundle,
      "APNS_PRIVATE_KEY": key.pem, "APNS_URL": "https://127.0.0.1:\(port)",
      "APNS_CA_FILE": folder + "/ca.pem",
    ].merging(extra) { $1 }
    if let host { try await primary.psql(host, database: database) }
    let migration = try ServiceProcess(
      ["migrate"] + migrateOptions + (host == nil ? ["--create-host-tables"] : []), settings: ["DATABASE_URL": conninfo]
    )
    try #require(try await migration.exitCode() == 0, "\(migration.text)")
  }

  private static func configuration(_ key: P256PrivateKey, port: UInt16) throws -> APNSSimulatorConfiguration {
    var configuration = APNSSimulatorConfiguration()
    configuration.logger = RunLogs.logger
    configuration.listeners = [.production: try #require(SocketAddress(numericHost: "127.0.0.1", port: port))]
    configuration.registry.register(
      ProviderKey(identifier: "KEY0000001", team: "TEAM000001", publicKey: key.publicKey))
    configuration.registry.registerBundle(bundle, team: "TEAM000001")
    return configuration
  }

  /// A scene with its service running, and everything stopped afterwards.
  /// - Parameter hasSandbox: whether the other environment can be reached. It is the same simulator, which answers there as
  ///   in production.
  static func play(
    postgres: TestPostgres? = nil, standby: TestPostgres? = nil, route: DatabaseRoute = .direct,
    extra: [String: String] = [:], hasSandbox: Bool = false,
    _ body: (ServiceScene, RunningService) async throws -> Void
  ) async throws {
    let scene = try await ServiceScene(postgres: postgres, standby: standby, route: route, extra: extra)
    let service = try await scene.startService(
      extra: hasSandbox ? ["APNS_SANDBOX_URL": scene.settings["APNS_URL", default: ""]] : [:])
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await body(scene, service))
    } catch {
      outcome = .failure(error)
    }
    try await service.stop()
    await scene.simulator.stop()
    try outcome.get()
  }

  /// Starts the service and waits until it is of use.
  func startService(extra: [String: String] = [:]) async throws -> RunningService {
    try await startService(settings: settings.merging(extra) { $1 })
  }

  /// Starts the service with these settings alone.
  func startService(settings: [String: String]) async throws -> RunningService {
    let process = try ServiceProcess(["serve"], settings: settings)
    let line = try await process.line(containing: "serving address=")
    let address = try #require(line.split(separator: " ").first { $0.hasPrefix("address=") }).dropFirst(8)
    let isListening = pooler == nil && settings["IDLE_MODE"] != "webhook"
    _ = try await process.line(containing: isListening ? "listening for notifications" : "not listening")
    if settings["SHADOW"] != "true" { _ = try await process.line(containing: "connected to APNs") }
    return RunningService(process: process, origin: "http://\(address)")
  }

  /// Makes the simulator know a device, or changes what it knows of it.
  func register(_ token: String, end: RegisteredDevice.End? = nil, delayMilliseconds: Int = 0) {
    let device = RegisteredDevice(
      environment: .production, bundle: Self.bundle, end: end, delayMilliseconds: delayMilliseconds)
    simulator.service.withRegistry { registry in _ = registry.register(device, token: token) }
  }

  /// The server that takes writes.
  var postgres: TestPostgres { current.withLock { $0 } }

  /// Kills the server or makes it fall silent, and makes its standby the one that takes writes.
  func failOver(silently isSilent: Bool = false) async throws {
    let standby = try #require(standby)
    try await postgres.awaitReplay(by: standby)
    if isSilent { postgres.freeze() } else { try await postgres.kill() }
    try await standby.promote()
    current.withLock { $0 = standby }
  }

  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await postgres.psql(text, database: database).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// A started service and where it answers.
struct RunningService {
  let process: ServiceProcess
  let origin: String

  func stop() async throws {
    try await process.signal(SIGTERM)
    let code = try await process.exitCode()
    #expect(code == 0, "\(process.text)")
  }

  /// What `/readyz` says once it is as awaited, by default once every reactor has its connections; its last answer when that takes
  /// too long.
  func readiness(
    within limit: Duration = ServiceScene.patience, until isAwaited: (HTTPAnswer) -> Bool = { $0.status == 200 }
  ) async throws -> HTTPAnswer {
    let deadline = ContinuousClock.now + limit
    while true {
      let answer = try await get("/readyz")
      if isAwaited(answer) || ContinuousClock.now > deadline { return answer }
      try await Task.sleep(for: ServiceScene.pause)
    }
  }

  func get(_ path: String) async throws -> HTTPAnswer {
    try await HTTPAnswer(of: URLRequest(url: #require(URL(string: origin + path))))
  }

  /// Posts a webhook; by default an authentic one.
  func webhook(
    _ body: String, secret: String? = ServiceScene.secret, fields: [String: String] = [:]
  ) async throws -> HTTPAnswer {
    var request = URLRequest(url: try #require(URL(string: origin + "/v1/webhooks/messages")))
    request.httpMethod = "POST"
    request.httpBody = Data(body.utf8)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    if let secret { request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization") }
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    return try await HTTPAnswer(of: request)
  }

  /// The sum of a counter over all reactors.
  func counter(_ name: String) async throws -> Int {
    try await get("/metrics").text.split(separator: "\n").filter { $0.hasPrefix(name) }
      .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
  }

  /// The same, once it is as large as expected; what it is when that takes too long. What the ledger says is counted a moment
  /// after it can be read.
  func counter(_ name: String, reaching count: Int) async throws -> Int {
    let deadline = ContinuousClock.now + ServiceScene.patience
    while true {
      let value = try await counter(name)
      if value >= count || ContinuousClock.now > deadline { return value }
      try await Task.sleep(for: ServiceScene.pause)
    }
  }
}

/// An answer, whole.
struct HTTPAnswer {
  let status: Int
  let text: String
  private let response: HTTPURLResponse

  init(of request: URLRequest) async throws {
    let (data, response) = try await URLSession.shared.data(for: request)
    self.response = try #require(response as? HTTPURLResponse)
    status = self.response.statusCode
    text = String(decoding: data, as: UTF8.self)
  }

  func field(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }

  var json: [String: any Sendable] {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: any Sendable] ?? [:]
  }
}

/// A conversation of a sender with others, written by SQL as a host would.
struct Conversation {
  /// What a recipient is like.
  struct Person {
    var devices: [String] = []
    /// SQL for `last_seen`.
    var lastSeen = "null"

    /// Has left long ago, with one device.
    static func away() -> Person { Person(devices: [newToken()]) }
    /// Is looking now.
    static func viewing() -> Person { Person(devices: [newToken()], lastSeen: "now()") }
  }

  let scene: ServiceScene
  let id = UUID().uuidString.lowercased()
  let sender = UUID().uuidString.lowercased()
  let people: [String]
  let tokens: [[String]]

  init(_ scene: ServiceScene, _ people: [Person]) async throws {
    self.scene = scene
    self.people = people.map { _ in UUID().uuidString.lowercased() }
    tokens = people.map(\.devices)
    var sql = """
      insert into profiles (id, name) values ('\(sender)', 'Ann');
      insert into conversations (id) values ('\(id)');
      insert into conversation_participants (conversation_id, user_id) values ('\(id)', '\(sender)');
      """
    for (person, user) in zip(people, self.people) {
      sql += """
        insert into profiles (id, name) values ('\(user)', 'Recipient');
        insert into conversation_participants (conversation_id, user_id, last_seen)
        values ('\(id)', '\(user)', \(person.lastSeen));
        """
      for token in person.devices {
        sql += "insert into push_tokens (user_id, device_token) values ('\(user)', '\(token)');"
        scene.register(token)
      }
    }
    try await scene.sql(sql)
  }

  /// Commits a message; its id.
  func say(_ text: String = newText(), readBy: [String] = []) async throws -> String {
    RunLogs.note(text, as: .text)
    let readers = "array[" + readBy.map { "'\($0)'" }.joined(separator: ",") + "]::uuid[]"
    return try await scene.sql(
      """
      insert into messages (conversation_id, from_id, text, read_by)
      values ('\(id)', '\(sender)', '\(text.replacingOccurrences(of: "'", with: "''"))', \(readers)) returning id
      """)
  }

  /// Commits messages one after the other; their ids.
  func say(times count: Int) async throws -> [String] {
    var messages: [String] = []
    for _ in 0..<count { messages.append(try await say()) }
    return messages
  }

  /// Commits `count` messages one after the other, each in a transaction of its own.
  func burst(of count: Int) async throws {
    try await scene.sql(
      """
      do $$ begin for i in 1..\(count) loop
        insert into messages (conversation_id, from_id, text) values ('\(id)', '\(sender)', 'message ' || i);
        commit;
      end loop; end $$
      """)
  }

  static func newToken() -> String {
    let token = (0..<32).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined()
    RunLogs.note(token, as: .deviceToken)
    return token
  }

  /// Words that stand nowhere else.
  static func newText() -> String { "see you at \(UInt64.random(in: .min ... .max))" }
}

extension SimulatedService {
  /// All pushes that its log has, the oldest first.
  var keptPushes: [APNSPushRecord] {
    var pushes: [APNSPushRecord] = []
    var query = PushQuery()
    query.limit = PushQuery.limitMax
    while true {
      let (records, next) = withLog { [query] in $0.records(query) }
      pushes += records
      guard next > query.after else { return pushes }
      query.after = next
    }
  }
}

extension ServiceScene {
  /// The pushes of a message that the simulator has seen, once there are as many as expected.
  func pushes(of message: String, atLeast count: Int) async throws -> [APNSPushRecord] {
    var query = PushQuery()
    query.collapseID = message
    var total = 0
    while true {
      let (found, now) = simulator.service.withLog { ($0.records(query).records, $0.total) }
      if found.count >= count { return found }
      total = now
      guard await simulator.waitForPushes(total + 1, within: ServiceScene.patience) else {
        throw TestProcessError(description: "\(found.count) of \(count) pushes of \(message) arrived")
      }
    }
  }

  /// The ledger of a message, as `decision reason` by user, once so many of its recipients are held and so many others are not: a row
  /// also says held while its push waits for a moment, as for a route's first answer.
  func ledger(of message: String, held: Int, others: Int = 0) async throws -> [String: String] {
    try await wait(
      for: "\(held)|\(others)",
      to: """
        select count(*) filter (where decision = 'held'), count(*) filter (where decision <> 'held')
        from tacet.push_log where subject_id = '\(message)'
        """)
    return try await ledger(of: message)
  }

  /// The ledger of a message once it is in the inbox no more, and nothing of it is held or to be sent to one more device: the last word
  /// about every recipient.
  func settled(_ message: String) async throws -> [String: String] {
    // Recorded with the last of its rows, so nothing is added to what is read after both have gone.
    try await wait(
      for: "0|0",
      to: """
        select (select count(*) from tacet.inbox where subject_id = '\(message)'),
          (select count(*) from tacet.deliveries where subject_id = '\(message)')
        """)
    return try await ledger(of: message)
  }

  private func ledger(of message: String) async throws -> [String: String] {
    let rows = try await rows(
      "select user_id, decision, coalesce(reason, '') from tacet.push_log where subject_id = '\(message)'")
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], "\($0[1]) \($0[2])") })
  }

  /// From the commit of a message to APNs' answer, by the ledger: the time of the test's own processes is not in it.
  func timeToPush(_ message: String) async throws -> Duration {
    let ledger = try await settled(message)
    try #require(ledger.values.contains("sent "), "\(ledger)")
    let sql = """
      select (extract(epoch from max(sent_at - enqueued_at)) * 1000)::bigint from tacet.push_log
      where subject_id = '\(message)' and decision = 'sent'
      """
    return .milliseconds(try #require(Int64(try await self.sql(sql))))
  }

  /// Waits until a query says so; nothing announces what a table has.
  func wait(
    for answer: String, to query: String, within limit: Duration = ServiceScene.patience,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let deadline = ContinuousClock.now + limit
    while case let said = try await sql(query), said != answer {
      try #require(
        ContinuousClock.now < deadline, "\(query): \(said) instead of \(answer)", sourceLocation: sourceLocation)
      try await Task.sleep(for: Self.pause)
    }
  }
}
