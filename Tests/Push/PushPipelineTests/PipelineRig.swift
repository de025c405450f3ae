import Channels
import FoundationEssentials
import Logging
import Postgres
import PrometheusMetrics
import PushRules
import PushStore
import Reactors
import TestIDs
import TestLogs
import TestPostgres
import TestReactors

@testable import PushPipeline

/// A pipeline between a migrated database and a scripted channel, all on one reactor.
final class PipelineRig {
  let database: PostgresConfiguration
  let pool: PostgresPool
  /// The sessions of the tests' own SQL. Those of `pool` may all wait for a lock that a test holds.
  private let host: PostgresPool
  let store: PushDatabase
  let channel = ScriptedChannel()
  let apns: APNSDeliverer
  let metrics = PrometheusRegistry()
  let pipeline: DeliveryPipeline
  private var statements = 0
  private var isStarted = false

  /// Runs a test's body with a rig, then drains and closes it.
  /// - Parameter server: where the database is made; nil for the one that tests share.
  static func run(
    window: Duration = .seconds(60), on server: TestPostgres? = nil, apps: Set<BundleIdentifier> = [],
    with others: @escaping @Sendable (isolated Reactor) -> [any PushDeliverer] = { _ in [] }, logger: Logger = .quiet,
    configure: @escaping @Sendable (inout PipelineConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (PipelineRig, isolated Reactor) async throws -> Void
  ) async throws {
    let shared = try await TestPostgres.shared
    let scratch = try await (server ?? shared).makeMigratedDatabase()
    defer { withExtendedLifetime(scratch) {} }
    let conninfo = scratch.conninfo
    try await onReactor { reactor in
      let rig = try await PipelineRig(
        conninfo, window: window, apps: apps, others(reactor), logger: logger, configure: configure, on: reactor)
      try await body(rig, reactor)
      rig.channel.release(on: reactor)
      try await rig.stop(on: reactor)
      await rig.host.close(on: reactor)
      await rig.pool.close(on: reactor)
    }
  }

  private init(
    _ conninfo: String, window: Duration, apps: Set<BundleIdentifier>, _ others: [any PushDeliverer], logger: Logger,
    configure: (inout PipelineConfiguration) -> Void, on reactor: isolated Reactor
  ) async throws {
    var database = PostgresConfiguration(conninfo: conninfo)
    database.chosenTypes = IDTypes.tested.postgresTypes
    database.commitsAsynchronously = true
    database.settings = PushDatabase.serviceSettings
    // Far above what a machine needs that runs many tests at once.
    database.connectLimit = patience
    database.statementLimit = patience
    database.answerLimit = patience
    self.database = database
    pool = PostgresPool(database, size: 3, acquireLimit: patience, logger: .quiet)
    pool.start(on: reactor)
    host = PostgresPool(database, size: 2, acquireLimit: patience, opensOnDemand: true, logger: .quiet)
    store = PushDatabase(pool: pool)
    var configuration = PipelineConfiguration(policy: SuppressionPolicy(window: window))
    configuration.retry.base = .milliseconds(20)
    configuration.lanes.suspicion.confirmation = .milliseconds(20)
    configure(&configuration)
    var places = APNSPlaces(defaultRoute: PushFixtures.route)
    for app in apps { places.apps[app] = .production }
    apns = APNSDeliverer(channel, places: places)
    pipeline = DeliveryPipeline(
      store: store, deliverers: [apns] + others, configuration: configuration, metrics: PipelineMetrics(metrics),
      logger: logger)
    pool.observer = pipeline
  }

  /// Configures other apps while the pipeline works.
  func update(
    apps: [BundleIdentifier: APNSEnvironment], defaultRoute: PushRoute, renewed: Set<BundleIdentifier> = [],
    on reactor: isolated Reactor
  ) {
    apns.update(APNSPlaces(defaultRoute: defaultRoute, apps: apps))
    pipeline.followRoutes(renewed: apns.routes(of: renewed), on: reactor)
  }

  /// How many recipients were recorded with this decision.
  func outcomes(_ decision: OutcomeDecision) -> Int {
    let families = metrics.collect().filter { $0.name == "tacet_outcomes_total" }
    return families.flatMap(\.samples).filter { $0.labels["decision"] == decision.rawValue }.reduce(0) { sum, sample in
      if case .integer(let count) = sample.value { sum + Int(count) } else { sum }
    }
  }

  /// Makes the pipeline work, until the rig is done.
  func start(on reactor: isolated Reactor) {
    isStarted = true
    reactor.start { await self.pipeline.run(on: reactor) }
  }

  private func stop(on reactor: isolated Reactor) async throws {
    guard isStarted else { return }
    guard await pipeline.drain(within: patience, on: reactor) else { throw TestFailure("not drained") }
  }

  /// Runs SQL that returns nothing of interest.
  func execute(_ sql: String, on reactor: isolated Reactor) async throws {
    _ = try await host.withConnection(on: reactor) {
      try await $0.simple(IDTypes.tested(sql), on: reactor)
    }
  }

  /// The only value of a query.
  func value<Value: PostgresDecodable>(
    _ sql: String, as type: Value.Type = Value.self, on reactor: isolated Reactor
  ) async throws -> Value {
    statements += 1
    let statement = PostgresStatement("rig_\(statements)", IDTypes.tested(sql))
    return try await host.query(statement, on: reactor).one().decode(0, as: Value.self)
  }

  /// Waits until the ledger says about a message what the test wants to see.
  func outcomes(
    of message: HostID, on reactor: isolated Reactor, until isDone: ([RecordedOutcome]) -> Bool = { _ in true }
  ) async throws -> [RecordedOutcome] {
    let deadline = ContinuousClock.now + patience
    while true {
      let status = try await store.status(of: .message(message), on: reactor)
      if case .decided(let outcomes) = status, isDone(outcomes) { return outcomes }
      guard ContinuousClock.now < deadline else { throw TestFailure("still \(status)") }
      await pipeline.waitForRecord(of: .message(message), .milliseconds(10), on: reactor)
    }
  }

  /// Asks again and again until the answer is yes. For what has no signal.
  func until(_ what: String, on reactor: isolated Reactor, _ isSo: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + patience
    while !(try await isSo()) {
      guard ContinuousClock.now < deadline else { throw TestFailure("not \(what)") }
      await reactor.sleep(for: .milliseconds(5))
    }
  }

  /// Returns once a query gives this value.
  func await<Value: PostgresDecodable & Equatable>(
    _ value: Value, of query: String, on reactor: isolated Reactor
  ) async throws {
    var last: Value?
    do {
      try await until("\(value)", on: reactor) {
        last = try await self.value(query, as: Value.self, on: reactor)
        return last == value
      }
    } catch let failure as TestFailure {
      throw TestFailure("\(failure): \(query): \(String(describing: last))")
    }
  }

  /// Whether any work is left, in the inbox or in the queue. What will clear screens in ten seconds is none.
  func hasWork(on reactor: isolated Reactor) async throws -> Bool {
    let work = """
      select exists (select from tacet.inbox where kind <> 'read_sync' or available_at < now() + interval '2 s')
        or exists (select from tacet.deliveries)
      """
    return try await value(work, on: reactor)
  }

  /// Waits until no work is left, in the inbox or in the queue.
  func nothingLeft(on reactor: isolated Reactor) async throws {
    let deadline = ContinuousClock.now + patience
    while ContinuousClock.now < deadline {
      // A record's answer, and with it the last line in the log, comes after its rows have gone.
      guard try await hasWork(on: reactor) || pipeline.room.places > 0 else { return }
      await reactor.sleep(for: .milliseconds(10))
    }
    let rows = """
      select coalesce(string_agg(w::text, E'\\n'), '') from (
        select 'inbox', available_at - now(), attempts, rescues, is_claimed, error from tacet.inbox
        union all
        select state, due_at - now(), attempts, rescues, is_claimed, error from tacet.deliveries
      ) w
      """
    throw TestFailure("work is left:\n" + (try await value(rows, on: reactor)))
  }
}

extension Logger {
  /// Says nothing to the test.
  static var quiet: Logger { RunLogs.logger }
}

/// Longer than anything takes on a busy machine; only a failing test waits so long.
let patience = Duration.seconds(60)

/// The poll is so far away that whatever is found was announced.
let withoutPolls: @Sendable (inout PipelineConfiguration) -> Void = {
  $0.schedule.shortest = .seconds(600)
  $0.schedule.longest = .seconds(600)
}

extension PipelineRig {
  /// Gives a chat's recipients a device each, and lets one push pass, which proves the route. Starts the pipeline.
  func prove(_ chat: Chat, on reactor: isolated Reactor) async throws {
    for (number, user) in chat.recipients.enumerated() {
      try await execute(
        "insert into public.push_tokens (user_id, device_token) values ('\(user)', 'aa\(number + 1000)')", on: reactor)
    }
    start(on: reactor)
    let id = try await chat.post(waking: .webhook, on: reactor)
    _ = try await outcomes(of: id, on: reactor) { $0.allSatisfy { $0.decision == .sent } }
  }

  /// Whether any device token has been dropped.
  func isDropped(on reactor: isolated Reactor) async throws -> Bool {
    try await value(
      "select exists (select from public.push_tokens where invalidated_at is not null)", as: Bool.self, on: reactor)
  }

  /// The environments that the tokens' rows name, in the order of the tokens; empty for none.
  func environments(on reactor: isolated Reactor) async throws -> String {
    try await value(
      "select string_agg(coalesce(environment, ''), ',' order by device_token) from public.push_tokens",
      as: String.self, on: reactor)
  }
}

/// A conversation in the host's tables: Ann, who writes, and the people she writes to.
struct Chat {
  let id = HostID.new()
  let sender = HostID.new()
  let recipients: [HostID]
  private let rig: PipelineRig

  /// Makes the conversation; every recipient has the devices given, whose tokens get the recipient's number in front.
  /// Runs a test's body with a rig and a chat in it.
  static func run(
    of count: Int = 1, devices: [String] = ["aa"], on server: TestPostgres? = nil,
    configure: @escaping @Sendable (inout PipelineConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (PipelineRig, Chat, isolated Reactor) async throws -> Void
  ) async throws {
    try await PipelineRig.run(on: server, configure: configure) { rig, reactor in
      try await body(rig, Chat(of: count, devices: devices, in: rig, on: reactor), reactor)
    }
  }

  init(
    of count: Int = 1, devices: [String] = ["aa"], in rig: PipelineRig, on reactor: isolated Reactor
  ) async throws {
    self.rig = rig
    recipients = (0..<count).map { _ in HostID.new() }
    var sql = "insert into public.profiles (id, name) values ('\(sender)', 'Ann');"
    sql += "insert into public.conversations (id) values ('\(id)');"
    sql += "insert into public.conversation_participants (conversation_id, user_id) values ('\(id)', '\(sender)');"
    for (number, user) in recipients.enumerated() {
      sql += "insert into public.profiles (id) values ('\(user)');"
      sql += "insert into public.conversation_participants (conversation_id, user_id) values ('\(id)', '\(user)');"
      for device in devices {
        let token = Self.prefix(number) + device
        sql += "insert into public.push_tokens (user_id, device_token) values ('\(user)', '\(token)');"
      }
    }
    try await rig.execute(sql, on: reactor)
  }

  /// A number as the beginning of a token: an even count of digits.
  private static func prefix(_ number: Int) -> String {
    let digits = "\(number)0"
    return digits.count.isMultiple(of: 2) ? digits : "0" + digits
  }

  /// Inserts messages in one transaction, as the host would; the trigger fills the inbox.
  @discardableResult
  func post(_ count: Int = 1, on reactor: isolated Reactor) async throws -> [HostID] {
    let ids = (0..<count).map { _ in HostID.new() }
    let text = "Hello from \(id)"
    RunLogs.note(text, as: .text)
    let rows = ids.map { "('\($0)', '\(id)', '\(sender)', '\(text)')" }.joined(separator: ",")
    try await rig.execute(
      "insert into public.messages (id, conversation_id, from_id, text) values \(rows)", on: reactor)
    return ids
  }

  /// Posts one message and tells the pipeline.
  func post(waking cause: WakeCause, on reactor: isolated Reactor) async throws -> HostID {
    let id = try await post(on: reactor)[0]
    rig.pipeline.wake(cause, on: reactor)
    return id
  }

  /// Every recipient was looking at the conversation this long ago.
  func see(ago: String = "0 s", on reactor: isolated Reactor) async throws {
    try await rig.execute(
      """
      update public.conversation_participants
      set last_seen = clock_timestamp() - interval '\(ago)' where user_id <> '\(sender)'
      """, on: reactor)
  }

  /// Every recipient has read everything.
  func read(on reactor: isolated Reactor) async throws {
    let users = recipients.map { "'\($0)'" }.joined(separator: ",")
    try await rig.execute("update public.messages set read_by = array[\(users)]::uuid[]", on: reactor)
  }
}

/// A push channel that answers as the test says, and remembers what it was given.
final class ScriptedChannel: APNSSender {
  /// One push, as the channel was asked to send it.
  struct Sent {
    let request: APNSRequest
    let route: PushRoute
    let deadline: UInt64

    var environment: APNSEnvironment { route.environment }
    var identifier: String { request.identifier.text }
    var token: String { request.deviceToken.hexadecimal }
  }

  /// The answer to a push; the number counts sends from 1.
  var answer: (Sent, Int) -> APNSOutcome = { _, _ in .accepted }

  /// Whether pushes wait for ``release(_:on:)`` before they are answered.
  var holds = false

  /// Whether one of them does.
  var delays: (Sent) -> Bool = { _ in false }

  /// Pushes that wait.
  var heldCount: Int { held.count }

  private(set) var sent: [Sent] = []
  private(set) var mostInFlight = 0
  private var inFlight = 0
  private var held: [Signal] = []
  private let changed = Signal()

  func send(
    _ request: APNSRequest, over route: PushRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> APNSOutcome {
    let push = Sent(request: request, route: route, deadline: deadline)
    sent.append(push)
    let number = sent.count
    inFlight += 1
    mostInFlight = max(mostInFlight, inFlight)
    changed.signal(on: reactor)
    if holds || delays(push) { await hold(on: reactor) }
    inFlight -= 1
    return answer(push, number)
  }

  /// Lets the oldest waiting pushes go; all of them and every later one when no number is given.
  func release(_ count: Int? = nil, on reactor: isolated Reactor) {
    if count == nil { holds = false }
    let released = held.prefix(count ?? held.count)
    held.removeFirst(released.count)
    for signal in released { signal.signal(on: reactor) }
  }

  /// Waits until so many pushes have been asked for since the start.
  func received(_ count: Int, on reactor: isolated Reactor) async throws {
    while sent.count < count {
      guard await changed.wait(for: patience, on: reactor) else { throw TestFailure("\(sent.count) pushes") }
    }
  }

  private func hold(on reactor: isolated Reactor) async {
    let signal = Signal()
    held.append(signal)
    _ = await signal.wait(on: reactor)
  }
}

/// Something a test waited for did not come.
struct TestFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// A deliverer of another channel than APNs that answers as the test says. Each target's app is its route.
final class ScriptedDeliverer: PushDeliverer {
  static let routeNames = ["web_push/one", "web_push/two"]

  let channel = DeliveryChannel(rawValue: "web_push")
  var routes: [DeliveryRoute] { Self.routeNames.map { DeliveryRoute(channel, name: $0) } }
  var pushesInFlightMax: Int? = 4

  struct Sent {
    let push: Push
    let addressee: Addressee
    let route: DeliveryRoute
  }

  /// The answer to a push.
  var answer: (Sent) -> DeliveryAttempt = { _ in DeliveryAttempt(.accepted, status: 201) }

  /// Routes whose pushes wait until ``release(on:)``.
  var held: Set<String> = []

  private(set) var sent: [Sent] = []
  private(set) var mostInFlight = 0
  private var inFlight = 0
  private var waiting: [Signal] = []
  private let changed = Signal()

  func route(to target: PushTarget) throws(PushRequestError) -> DeliveryRoute {
    guard let app = target.app else { throw PushRequestError(.targetMalformed, "no app") }
    return DeliveryRoute(channel, name: app)
  }

  func request(
    for push: Push, to addressee: Addressee, over route: DeliveryRoute
  ) throws(PushRequestError) -> Sent { Sent(push: push, addressee: addressee, route: route) }

  func send(
    _ push: Sent, over route: DeliveryRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    sent.append(push)
    inFlight += 1
    mostInFlight = max(mostInFlight, inFlight)
    changed.signal(on: reactor)
    if held.contains(route.name) {
      let signal = Signal()
      waiting.append(signal)
      _ = await signal.wait(on: reactor)
    }
    inFlight -= 1
    return answer(push)
  }

  func release(on reactor: isolated Reactor) {
    held = []
    for signal in waiting { signal.signal(on: reactor) }
    waiting = []
  }

  /// Waits until so many pushes have been asked for since the start.
  func received(_ count: Int, on reactor: isolated Reactor) async throws {
    while sent.count < count {
      guard await changed.wait(for: patience, on: reactor) else { throw TestFailure("\(sent.count) pushes") }
    }
  }
}

/// A switch that a test's closures share.
final class Flag {
  var isSet = false
}
