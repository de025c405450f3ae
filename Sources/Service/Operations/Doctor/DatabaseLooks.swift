internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors
internal import Settings

/// The checks that ask the database, in order; those that need what another one missed are skipped.
final class DatabaseLooks {
  static let rightsName = "rights"

  private static let connectLimit = Duration.seconds(5)
  private static let listenLimit = Duration.seconds(5)
  /// For all that follows the connect.
  private static let limit: UInt64 = 15_000_000_000

  /// A check: its name, and its query with what judges the answer.
  private typealias Check = (
    name: String, look: @Sendable (DatabaseLooks, isolated Reactor) async throws -> [Judgement]
  )

  /// What can be asked of any database.
  private static let first: [Check] = [
    ("clock", { [.clock(try await $0.database.clock(on: $1))] }),
    (rightsName, { Judgement.rights(try await $0.database.missingRights(on: $1), role: $0.server.role) }),
  ]

  private static let migrationsCheck: Check = ("migrations", { [try await $0.migrations(on: $1)] })

  /// What needs the migrations.
  private static let later: [Check] = [
    ("database", { Judgement.copy(try await $0.database.identity(on: $1)) }),
    ("token access", { Judgement.tokenAccess(try await $0.database.tokenAccess(on: $1)) }),
    ("triggers", { try await $0.triggers(on: $1) }),
    (
      "indexes",
      {
        Judgement.indexes(
          queue: try await $0.database.indexes(DatabaseExamination.queueIndexes, on: $1),
          host: try await $0.database.indexes(DatabaseExamination.hostIndexes(of: $0.tables), on: $1))
      }
    ),
    ("claim plan", { Judgement.claimPlan(try await $0.database.claimPlan(on: $1)) }),
    ("host functions", { try await $0.hostFunctions(on: $1) }),
    ("contract", { try await $0.contract(on: $1) }),
    ("inbox", { Judgement.backlog(try await $0.database.backlog(on: $1)) }),
    ("snapshots", { Judgement.snapshots(try await $0.database.snapshots(on: $1)) }),
    ("trigger failures", { Judgement.triggerFailures(try await $0.database.triggerFailures(on: $1)) }),
    ("erasures", { [.erasures(try await $0.database.overdueErasures(on: $1))] }),
    ("zones of users", { [.zones(lost: try await $0.database.lostZones(on: $1))] }),
    (
      "pg_net",
      {
        // Its worker takes requests every few milliseconds.
        let webhook = try await $0.database.webhook(pausing: .seconds(1), on: $1)
        return Judgement.notifications(webhook, isListened: $0.isListened) + [.webhookPosts(webhook)]
          + ($0.mayIdle ? [.idle(webhook)] : [])
      }
    ),
    ("instances", { [.instances(try await $0.database.instances(on: $1), mayIdle: $0.mayIdle)] }),
    (
      "host events",
      { [.hostEvents(try await $0.database.hostEvents(on: $1), isConfigured: $0.settings.events != nil)] }
    ),
    ("campaigns", { try await $0.campaigns(on: $1) }),
    ("campaign work", { try await $0.campaignWork(on: $1) }),
    ("model usage", { try await $0.modelUsage(on: $1) }),
    ("activity types", { Judgement.activityTypes(try await $0.database.activityTypes(on: $1)) }),
    ("texts", { Judgement.texts(try await $0.database.texts(on: $1)) }),
    ("device tokens", { try await $0.deviceTokens(on: $1) }),
    ("sealing keys", { try await $0.sealingKeys(on: $1) }),
  ]

  /// Said to be skipped where there are no migrations. The others say nothing where all is well.
  private static let laterNames = later.map(\.name).filter {
    !["database", "campaign work", "model usage", "sealing keys"].contains($0)
  }

  private let database: DatabaseExamination
  private let server: ExaminedServer
  private let settings: ExaminedSettings
  /// Nil where campaigns are switched off.
  private let campaignSettings: CampaignSettings?
  /// For what needs a session that may write.
  private let conninfo: String
  private let logger: Logger
  private let isListened: Bool
  /// Whether the service leaves the database alone while nothing happens.
  private let mayIdle: Bool
  /// No look begins after it, in monotonic nanoseconds.
  private let deadline = Reactor.now + limit

  /// Those of the default host that the host contract reads.
  private var tables: Set<String> = []
  private var failedFunctions: Set<String> = []
  private var tokens: [DeviceTokenCount] = []

  private init(
    _ database: DatabaseExamination, _ server: ExaminedServer, _ settings: ExaminedSettings,
    of databaseSettings: DatabaseSettings, logger: Logger
  ) {
    (self.database, self.server, self.settings, self.logger) = (database, server, settings, logger)
    campaignSettings = settings.campaigns.flatMap { $0.isEnabled ? $0 : nil }
    conninfo = databaseSettings.connectionString.exposed
    isListened = databaseSettings.poolMode == .session && databaseSettings.idleMode == .poll
    mayIdle = databaseSettings.idleMode == .webhook
  }

  /// Runs every check.
  /// - Returns: the devices that pushes go to, for the checks of APNs; empty when they are not known.
  static func run(
    _ settings: ExaminedSettings, logger: Logger, on reactor: isolated Reactor, add: (String, [Judgement]) -> Void
  ) async -> [DeviceTokenCount] {
    guard let databaseSettings = settings.database else {
      add("database", [.skipped("DATABASE_URL cannot be used")])
      return []
    }
    do {
      let database = try await DatabaseExamination.begin(
        databaseSettings.connectionString.exposed, within: connectLimit, logger: logger, on: reactor)
      defer { database.end(on: reactor) }
      let server = try await database.server(on: reactor)
      let host = database.host
      add("database", [.ok("connected to \(host.isEmpty ? "the server" : host) as role \(server.role)")])
      add("server", [.server(server)])
      add("pooler", [.pooler(server, host: host, isTransaction: databaseSettings.poolMode == .transaction)])
      add("listen", [await listen(databaseSettings, database, server, logger: logger, on: reactor)])
      let looks = DatabaseLooks(database, server, settings, of: databaseSettings, logger: logger)
      await looks.run(on: reactor, add: add)
      return looks.tokens
    } catch {
      add("database", [.unreachable(error)])
      for name in ["listen"] + (first + [migrationsCheck]).map(\.name) + laterNames {
        add(name, [.skipped("needs the database")])
      }
      return []
    }
  }

  private static func listen(
    _ settings: DatabaseSettings, _ database: DatabaseExamination, _ server: ExaminedServer,
    logger: Logger, on reactor: isolated Reactor
  ) async -> Judgement {
    guard settings.poolMode == .session else {
      return .skipped("DATABASE_POOL_MODE is transaction, and notifications do not pass such a pooler")
    }
    guard settings.idleMode == .poll else {
      return .skipped("IDLE_MODE is webhook, and a session that listens would keep the database awake")
    }
    let outcome = await ListenExamination.run(
      settings.connectionString.exposed, notifiedBy: database, within: listenLimit, logger: logger, on: reactor)
    return .listening(outcome, pooler: server.isPooled ? Judgement.pooler(at: database.host) : nil)
  }

  private func run(on reactor: isolated Reactor, add: (String, [Judgement]) -> Void) async {
    for check in Self.first { add(check.name, await judgements(of: check, on: reactor)) }
    let migrations = await judgements(of: Self.migrationsCheck, on: reactor)
    add(Self.migrationsCheck.name, migrations)
    guard migrations.allSatisfy({ $0.verdict == .ok || $0.verdict == .warning }) else {
      for name in Self.laterNames { add(name, [.skipped("needs the migrations")]) }
      return
    }
    // If this fails, so do the looks that come to know why.
    tables = (try? await database.contractTables(on: reactor)) ?? []
    for check in Self.later { add(check.name, await judgements(of: check, on: reactor)) }
  }

  /// Runs a look, unless the time is over; one that fails is a finding too.
  private func judgements(of check: Check, on reactor: isolated Reactor) async -> [Judgement] {
    guard Reactor.now < deadline else {
      return [
        .failure("the database was too slow to get here", remedy: "see in pg_stat_activity what it is busy with")
      ]
    }
    do {
      return try await check.look(self, reactor)
    } catch let error as PostgresError {
      return [.failed(error, of: check.name)]
    } catch {
      return [.failure("\(error)")]
    }
  }
}

// Looks that take more than a statement.
extension DatabaseLooks {
  private func migrations(on reactor: isolated Reactor) async throws(PostgresError) -> Judgement {
    let applied = try await database.appliedMigrations(on: reactor)
    switch SchemaSupport(applied: applied) {
    case .unreleased, .tooOld: return .migrations(applied)
    case .supported, .tooNew:
      return .migrations(
        applied, changed: try await database.changedMigrations(on: reactor),
        outdatedFunctions: try await database.outdatedFunctions(on: reactor))
    }
  }

  private func triggers(on reactor: isolated Reactor) async throws -> [Judgement] {
    Judgement.triggers(
      try await database.triggers(on: reactor), messageTables: try await database.messageTables(on: reactor),
      kinds: try await database.kindTriggers(on: reactor), tables: tables, replicationRole: server.replicationRole,
      replicationRoles: try await database.replicationRoles(on: reactor))
  }

  private func hostFunctions(on reactor: isolated Reactor) async throws -> [Judgement] {
    var failures: [(function: HostFunction, error: PostgresError)] = []
    for function in HostFunction.allCases where Reactor.now < deadline {
      do throws(PostgresError) {
        try await database.call(function, on: reactor)
      } catch {
        failures.append((function, error))
      }
    }
    failedFunctions = Set(failures.map(\.function.rawValue))
    return Judgement.hostFunctions(failures, inert: try await database.inertFunctions(on: reactor))
  }

  private func contract(on reactor: isolated Reactor) async throws -> [Judgement] {
    if server.isStandby || server.isReadOnly { return [.contractUntried] }
    let trials = try await DatabaseExamination.rehearseMessage(
      conninfo, within: Self.connectLimit, logger: logger, on: reactor)
    return Judgement.contract(trials.filter { !failedFunctions.contains($0.step) }, role: server.role)
  }

  private func campaigns(on reactor: isolated Reactor) async throws -> [Judgement] {
    guard campaignSettings != nil else { return [.campaignsOff] }
    var looked: [(campaign: StoredCampaign, error: PostgresError?)] = []
    for campaign in try await database.campaigns(on: reactor) where Reactor.now < deadline {
      do throws(PostgresError) {
        try await database.call(campaign, on: reactor)
        looked.append((campaign, nil))
      } catch {
        looked.append((campaign, error))
      }
    }
    return Judgement.campaigns(looked)
  }

  private func campaignWork(on reactor: isolated Reactor) async throws -> [Judgement] {
    guard let campaignSettings else { return [] }
    return Judgement.campaignWork(try await database.campaignWork(minutes: campaignSettings.minutes, on: reactor))
  }

  private func modelUsage(on reactor: isolated Reactor) async throws -> [Judgement] {
    guard let campaignSettings else { return [] }
    return [.modelUsage(try await database.modelUsage(on: reactor), campaignSettings)]
  }

  private func deviceTokens(on reactor: isolated Reactor) async throws -> [Judgement] {
    let isDefaultHost = tables.contains("push_tokens")
    tokens = try await database.deviceTokens(isDefaultHost: isDefaultHost, on: reactor)
    guard isDefaultHost || !tokens.isEmpty else {
      // Of a host with its own tables, before the first pushes.
      return [
        .skipped("tacet.device_tokens returns none for the last recipients of tacet.push_log, if there are any")
      ]
    }
    return settings.apns.map { Judgement.deviceTokens(tokens, $0) } ?? []
  }

  private func sealingKeys(on reactor: isolated Reactor) async throws -> [Judgement] {
    Judgement.sealingKeys(try await database.sealingKeys(on: reactor), tokens, settings.apns)
  }
}
