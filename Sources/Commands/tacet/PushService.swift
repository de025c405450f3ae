import API
import Channels
import Glibc
import HTTP1
import Logging
import Postgres
import PrometheusMetrics
import PushPipeline
internal import PushRules
import PushStore
import Reactors
import Settings
import UnixSignals

/// The parts of `tacet serve`, put together, and the HTTP service in front of them.
struct PushService {
  private let settings: ServeSettings
  private let logger: Logger
  private let plan: APNSPlan
  private let address: SocketAddress
  private let metricsAddress: SocketAddress?
  private let tls: TLSContext?
  private let signals: UnixSignalsSequence
  private let supervisor: Supervisor
  private let readAgain: @Sendable () throws -> ServeSettings

  /// Checks what can be checked without a network: the keys sign, the certificate fits, the address can be resolved.
  /// - Parameters:
  ///   - signals: SIGHUP makes the service read its settings again, any other one stops it. readAgain: how it reads.
  ///   - supervisor: learns of starts, reloads and stops, and may have opened the sockets.
  init(
    _ settings: ServeSettings, logger: Logger, signals: UnixSignalsSequence, supervisor: Supervisor,
    readAgain: @escaping @Sendable () throws -> ServeSettings
  ) async throws {
    self.settings = settings
    self.logger = logger
    self.signals = signals
    self.supervisor = supervisor
    self.readAgain = readAgain
    plan = try APNSPlan(settings.apns)
    tls = try settings.tls?.context()
    address = try await settings.listenAddress.resolved()
    metricsAddress = try await settings.metricsAddress?.resolved()
  }

  /// Serves until a signal says stop.
  func run() async throws {
    let group = try ReactorGroup(count: settings.reactors ?? ReactorGroup.processorCount)
    let watch = Task(executorPreference: globalConcurrentExecutor) { [supervisor, reactors = group.reactors] in
      await supervisor.watch(reactors)
    }
    func end() async {
      watch.cancel()
      await watch.value
      await group.stop()
    }
    do {
      try await serve(on: group)
    } catch {
      await end()
      throw error
    }
    await end()
    logger.notice("stopped")
  }

  private func serve(on group: ReactorGroup) async throws {
    let database = PostgresConfiguration(settings.database)
    try await group.reactors[0].perform { [logger] in
      try await Self.refuseUnusable(database, logger: logger, on: $0)
    }
    let listeners: [(SocketAddress?, Int32?)] = [
      (address, supervisor.interfaceSocket), (metricsAddress, supervisor.metricsSocket),
    ]
    for case (let address?, nil) in listeners {
      try await group.reactors[0].perform { [logger] in
        try await Self.refuseSharing(address, database, logger: logger, on: $0)
      }
    }
    let clients = try await ClientAccess(
      settings.callers, user: { IDTypes(ofSessions: database).users.id($0)?.text },
      on: group.reactors, logger: logger)
    let registry = PrometheusRegistry(MetricsCatalogue.counted)
    let parts = try await ServiceParts(
      settings, of: database, plan: plan, clients: clients, registry: registry, logger: logger, on: group)
    let page = MetricsPage(registry: registry, parts: parts, meter: HTTPServiceMeter())
    let routes = try await makeRoutes(parts, clients, page)
    let http = try await startHTTP(routes, page, on: group)
    let figures = try await startMetrics(page, on: group)
    logger.notice("serving", metadata: ["address": "\(http.address)", "reactors": "\(group.reactors.count)"])
    if let notice = settings.shadow.notice { logger.warning("this is a shadow", metadata: ["detail": "\(notice)"]) }
    supervisor.tellReady("serving on \(http.address)")
    await reloadUntilStop(parts, http)
    supervisor.tellStopping()
    logger.notice("stopping")
    await parts.pipeline.perform { $0.leave(on: $1) }
    // The pipeline goes on meanwhile, because webhooks wait for what they do.
    let isDrained = await http.drain(within: settings.drainLimit)
    _ = await figures?.drain(within: .seconds(1))
    await clients?.close()
    let isRecorded = await parts.stop(within: settings.drainLimit)
    if !isDrained || !isRecorded { logger.warning("stopped before everything was finished") }
  }

  /// One reload after the other; a stop waits for the one that runs, which takes seconds at most.
  private func reloadUntilStop(_ parts: ServiceParts, _ http: HTTPService) async {
    var reload = SettingsReload(
      start: settings, pipeline: parts.pipeline, http: http, logger: logger, read: readAgain, plan: plan,
      tls: settings.tls)
    for await _ in signals.prefix(while: { $0 == .sighup }) {
      supervisor.tellReloading()
      await reload.run()
      supervisor.tellReady("serving on \(http.address)")
    }
  }

  private func makeRoutes(
    _ parts: ServiceParts, _ clients: ClientAccess?, _ page: MetricsPage
  ) async throws -> HTTPRoutes {
    let services = try await parts.services()
    let keys = settings.webhooks.secrets.map {
      WebhookAuthentication.Key(bearer: $0.bearer.exposed, signingKey: $0.signingKey.exposed)
    }
    let callers = CallerAuthentication(
      clients: clients?.verifier, services: BearerKeys(settings.callers.serviceKeys.map(\.exposed)))
    let text: MetricsText = { _ in await page.text() }
    var routes = PushRoutes.make(
      services: services, authentication: WebhookAuthentication(keys), callers: callers,
      webhookWait: settings.webhooks.wait, devicesPerUserMax: settings.devicesPerUserMax,
      registrations: settings.channels.map(\.registration), metrics: metricsAddress == nil ? text : nil, logger: logger)
    DashboardRoutes.add(
      to: &routes, services: services, serviceKeys: settings.callers.serviceKeys.map(\.exposed), isTLS: tls != nil,
      routes: { await parts.pipeline.perform { $0.routeConditions(on: $1) } },
      explanations: { subject, user, reactor in
        try await services.value(on: reactor).explanations(ofSubject: subject, userID: user, on: reactor)
      }, logger: logger)
    return routes
  }

  private func startHTTP(
    _ routes: HTTPRoutes, _ page: MetricsPage, on group: ReactorGroup
  ) async throws -> HTTPService {
    var configuration = settings.http
    configuration.fit(descriptors: DescriptorLimit.raise(), logger: logger)
    return try await HTTPService.start(
      routes, on: address, inherited: supervisor.interfaceSocket, reactors: group.reactors,
      configuration: configuration, tls: tls, meter: page.meter, metrics: page.registry, logger: logger)
  }

  /// Serves the figures where the settings say; nil when they are among the other routes.
  private func startMetrics(_ page: MetricsPage, on group: ReactorGroup) async throws -> HTTPService? {
    guard let metricsAddress else { return nil }
    var routes = HTTPRoutes()
    PushRoutes.addMetrics(to: &routes) { _ in await page.text() }
    var configuration = HTTPServiceConfiguration()
    configuration.connections.totalMax = 64
    let http = try await HTTPService.start(
      routes, on: metricsAddress, inherited: supervisor.metricsSocket, reactors: [group.reactors[0]],
      configuration: configuration, logger: logger)
    logger.notice("serving figures", metadata: ["address": "\(http.address)"])
    return http
  }
}

/// What works on the reactors: the pipeline on the first, campaigns on the last, and what answers requests on each.
struct ServiceParts {
  let pipeline: ReactorBound<PipelineWorker>
  /// Nil where campaigns are switched off.
  let campaigns: ReactorBound<CampaignDuty>?
  let workers: PerReactor<ReactorWorker>
  private let handle: PipelineHandle

  /// Makes the parts, and starts them.
  init(
    _ settings: ServeSettings, of database: PostgresConfiguration, plan: APNSPlan, clients: ClientAccess?,
    registry: PrometheusRegistry, logger: Logger, on group: ReactorGroup
  ) async throws {
    let sessions = ServiceSessions(settings, of: database)
    let (first, last) = (group.reactors[0], group.reactors[group.reactors.count - 1])
    pipeline = try await first.perform {
      ReactorBound(
        PipelineWorker(
          settings, sessions: sessions, plan: plan, clients: clients, metrics: registry, logger: logger, on: $0),
        on: $0)
    }
    let handle = await pipeline.perform { $0.handle(on: $1) }
    self.handle = handle
    campaigns = try await last.perform { reactor in
      CampaignDuty(
        settings.campaigns, sessions: sessions, pipeline: handle, metrics: registry, logger: logger, on: reactor
      ).map { ReactorBound($0, on: reactor) }
    }
    workers = try await PerReactor(group.reactors) { _, _ in
      ReactorWorker(settings, sessions: sessions, metrics: registry, logger: logger)
    }
    await pipeline.perform { $0.start(on: $1) }
    await campaigns?.perform { $0.start(on: $1) }
  }

  func services() async throws -> PerReactor<PushServices> {
    try await PerReactor(workers.all.map(\.reactor)) { _, reactor in
      workers.value(on: reactor).services(with: pipeline, handle, campaigns)
    }
  }

  /// Campaigns and the pipeline at once, so that the limit is that of the whole.
  /// - Returns: whether all that was claimed was recorded in time.
  func stop(within limit: Duration) async -> Bool {
    async let isClosed: Void? = campaigns?.perform {
      $0.stop(on: $1)
      await $0.close(within: limit, on: $1)
    }
    let isRecorded = await pipeline.perform { await $0.stop(within: limit, on: $1) }
    await isClosed
    for worker in workers.all { await worker.perform { await $0.close(on: $1) } }
    return isRecorded
  }
}

extension ListenAddress {
  /// Where to listen; a name becomes its first address.
  fileprivate func resolved() async throws -> SocketAddress {
    switch self {
    case .tcp(let host, let port):
      guard let address = try await Resolver.addresses(of: host, port: port).first else {
        preconditionFailure("resolving found no address and no error")
      }
      return address
    case .unix(let path):
      guard let address = SocketAddress(unixPath: path) else { preconditionFailure("the settings checked the path") }
      return address
    }
  }
}

extension PushService {
  /// Stops a start in a database whose schema this program does not support, or in a copy of another one. A database that
  /// cannot be asked yet is no reason to: its sessions are checked one by one.
  static func refuseUnusable(
    _ configuration: PostgresConfiguration, logger: Logger, on reactor: isolated Reactor
  ) async throws {
    var configuration = configuration
    configuration.connectLimit = .seconds(2)
    let support: SchemaSupport?
    let identity: DatabaseIdentity?
    do throws(PostgresError) {
      let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
      defer { connection.close(on: reactor) }
      // Without a right to read the migrations, the identity still counts.
      support = try? await SchemaSupport.look(over: connection, on: reactor)
      try await IDTypes.look(over: connection, on: reactor)
      // A schema that is not supported may not have the settings.
      let isAsked = support ?? .supported == .supported
      identity = isAsked ? try await DatabaseIdentity.look(over: connection, on: reactor) : nil
    } catch {
      logger.debug("the database is not known yet", metadata: ["error": "\(error.debugDescription)"])
      return
    }
    if let support, support != .supported { throw UnsupportedSchema(support: support) }
    if let identity, identity.isForeign { throw ForeignDatabase(identity: identity) }
    if identity == nil {
      logger.warning(
        "row-level security hides the service's own tables",
        metadata: ["remedy": "as their owner, call tacet.grant_service for this role, or give it BYPASSRLS"])
    }
  }
}

extension PushService {
  /// Stops a start on a TCP port that a process of another database serves: the kernel would give connections to either. One of the
  /// same database is a replica, or a predecessor. A database that cannot be asked is no reason to.
  static func refuseSharing(
    _ address: SocketAddress, _ configuration: PostgresConfiguration, logger: Logger, on reactor: isolated Reactor
  ) async throws {
    guard address.port != 0, await isServed(address, on: reactor) else { return }
    var configuration = configuration
    configuration.connectLimit = .seconds(2)
    // A process that has just begun to listen may not have noted itself yet.
    for _ in 0..<20 {
      do throws(PostgresError) {
        let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
        defer { connection.close(on: reactor) }
        let neighbours = try await ServiceInstance.current.neighbours(over: connection, on: reactor)
        if neighbours.contains(where: { $0.isRecent || kill($0.processID, 0) == 0 || errno == EPERM }) { return }
      } catch {
        logger.warning(
          "another process listens here, and the database cannot say whether it is one of its own",
          metadata: ["address": "\(address)", "error": "\(error.debugDescription)"])
        return
      }
      await reactor.sleep(for: .milliseconds(250))
    }
    throw SharedPort(address: address)
  }

  private static func isServed(_ address: SocketAddress, on reactor: isolated Reactor) async -> Bool {
    do {
      let socket = try await Socket.connect(to: address, within: .seconds(1), on: reactor)
      // Where nobody listens, a socket may have got this very port and met itself.
      return socket.localAddress?.port != address.port
    } catch {
      return false
    }
  }
}

/// A process that does not work with this database listens where this one is to listen.
struct SharedPort: Error, CustomStringConvertible {
  let address: SocketAddress

  var description: String {
    """
    another process listens on \(address), and none of this database runs on this machine. Requests would go to either. Choose \
    another address, or stop it.
    """
  }
}

struct UnsupportedSchema: Error, CustomStringConvertible {
  let support: SchemaSupport

  var description: String {
    switch support {
    case .supported: "the schema is supported"
    case .unreleased:
      """
      the database has a schema from before the first release, which cannot be upgraded. Reinstall: run \
      "psql -X -f db/uninstall.sql", then "tacet migrate".
      """
    case .tooOld(let missing):
      "the database lacks migrations that this program needs: \(missing.joined(separator: ", ")). Run \"tacet migrate\" first."
    case .tooNew(let version, let oldest):
      """
      the database has migration \(version), beside which only programs that know migration \(oldest) may run; this one \
      knows \(Migration.all.last?.version ?? 0). Start the program that the migration came with.
      """
    }
  }
}

/// The database's settings were written in another database.
struct ForeignDatabase: Error, CustomStringConvertible {
  let identity: DatabaseIdentity

  var description: String {
    """
    this database (\(identity.actual)) is a copy of another one (\(identity.noted ?? "")), and carries what waits to be \
    pushed there. Run "tacet adopt" to drop what waits, or "tacet adopt --keep-waiting" if the database has only moved.
    """
  }
}

/// Reads the settings again while the service runs, and makes it follow what is renewed without a restart: the apps' keys
/// and the certificate of the HTTP service.
///
/// All or nothing: when anything is unusable, everything stays as it is. Pushes go on meanwhile.
struct SettingsReload {
  /// How long new connections may take before the old ones are given up for them; as long as one try to connect.
  private static let warmUpLimit = Duration.seconds(5)

  /// Those of the start of the process.
  let start: ServeSettings
  let pipeline: ReactorBound<PipelineWorker>
  let http: HTTPService
  let logger: Logger
  let read: @Sendable () throws -> ServeSettings
  var plan: APNSPlan
  var tls: TLSSettings?

  /// Returns when the service follows the settings, or when they turned out to be unusable; the log says which.
  mutating func run() async {
    do {
      let settings = try read()
      let apns = plan.settings.signing(like: settings.apns)
      let renewed = zip(plan.settings.apps, apns.apps).filter { $0.key != $1.key }.map(\.1.bundleIdentifier)
      let renewedTLS = tls == nil || tls == settings.tls ? nil : settings.tls
      let context = try renewedTLS?.context()
      if !renewed.isEmpty {
        plan = try APNSPlan(apns, after: plan)
        await pipeline.perform { [plan] in
          await $0.follow(plan, renewed: Set(renewed), within: Self.warmUpLimit, on: $1)
        }
      }
      if let context {
        tls = renewedTLS
        await http.replaceTLS(context)
      }
      report(renewed, hasNewCertificate: context != nil, needingRestart: settings.keysNeedingRestart(since: start))
    } catch let error as SettingsError {
      refuse(error.problems.map(\.description).joined(separator: "; "))
    } catch {
      refuse("\(error)")
    }
  }

  private func refuse(_ problems: String) {
    logger.error("settings not reloaded, those before stay", metadata: ["problems": "\(problems)"])
  }

  private func report(_ renewed: [BundleIdentifier], hasNewCertificate: Bool, needingRestart keys: [String]) {
    var metadata: Logger.Metadata = [:]
    func add(_ name: String, _ words: [String]) {
      if !words.isEmpty { metadata[name] = "\(words.joined(separator: " "))" }
    }
    add("keys", renewed.map(\.text))
    add("certificate", hasNewCertificate ? ["renewed"] : [])
    add("needs_restart", keys)
    logger.notice(metadata.isEmpty ? "settings reloaded, nothing has changed" : "settings reloaded", metadata: metadata)
  }
}
