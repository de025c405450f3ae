internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors
internal import Settings

/// Where pushes go, for the checks of APNs; empty when it is not known.
struct ExaminedAddresses {
  var tokens: [DeviceTokenCount] = []
}

/// The checks that ask the database, in order; those that need what another one missed are skipped.
struct DatabaseLooks {
  private static let connectLimit = Duration.seconds(5)
  private static let listenLimit = Duration.seconds(5)
  /// For all that follows the connect.
  private static let limit = Duration.seconds(15)

  private let settings: SettingValues<DatabaseSettings>
  private let apns: APNSSettings?
  private let campaigns: SettingValues<CampaignSettings>?
  private let sendsEvents: Bool
  private let logger: Logger

  init(
    _ settings: SettingValues<DatabaseSettings>, apns: APNSSettings?, campaigns: SettingValues<CampaignSettings>?,
    sendsEvents: Bool, logger: Logger
  ) {
    self.settings = settings
    self.apns = apns
    self.campaigns = campaigns
    self.sendsEvents = sendsEvents
    self.logger = logger
  }

  func run(on reactor: isolated Reactor, add: ([CheckFinding]) -> Void) async -> ExaminedAddresses {
    let conninfo = settings.connectionString.exposed
    do {
      let database = try await DatabaseExamination.begin(
        conninfo, within: Self.connectLimit, logger: logger, on: reactor)
      defer { database.end(on: reactor) }
      let server = try await database.server(on: reactor)
      let pool = PoolWords(isTransaction: settings.poolMode == .transaction)
      add(DatabaseCheck.judge(server, host: database.host, asPool: pool))
      add([await listen(database, server, on: reactor)])
      let looks = SchemaLooks(
        database, server, conninfo: conninfo, apns: apns, campaigns: campaigns,
        isListened: settings.poolMode == .session && settings.idleMode == .poll,
        mayIdle: settings.idleMode == .webhook, sendsEvents: sendsEvents,
        until: Reactor.now + UInt64(Self.limit.components.seconds) * 1_000_000_000, logger: logger)
      return await looks.run(on: reactor, add: add)
    } catch {
      add([DatabaseCheck.judge(connectFailure: error)])
      add(SchemaLooks.names.map { CheckFinding($0, .skipped, "needs the database") })
      return ExaminedAddresses()
    }
  }

  private func listen(
    _ database: DatabaseExamination, _ server: ExaminedServer, on reactor: isolated Reactor
  ) async -> CheckFinding {
    guard settings.poolMode == .session else { return ListenCheck.notUsed }
    guard settings.idleMode == .poll else { return ListenCheck.notWanted }
    let outcome = await ListenExamination.run(
      settings.connectionString.exposed, notifiedBy: database, within: Self.listenLimit, logger: logger, on: reactor)
    return ListenCheck.judge(outcome, pooler: server.isPooled ? PoolWords.pooler(at: database.host) : nil)
  }
}

/// The checks that ask a database that was reached, in the order of ``names``.
final class SchemaLooks {
  private typealias Look = @Sendable (SchemaLooks, isolated Reactor) async throws -> [CheckFinding]

  /// What can be asked of any database.
  private static let first: [(name: String, look: Look)] = [
    (ClockCheck.name, { [ClockCheck.judge(try await $0.database.clock(on: $1))] }),
    (RightsCheck.name, { RightsCheck.judge(try await $0.database.missingRights(on: $1), role: $0.server.role) }),
    (MigrationCheck.name, { try await $0.migrations(on: $1) }),
  ]

  /// What needs the migrations.
  private static let later: [(name: String, look: Look)] = [
    (DatabaseCheck.name, { DatabaseCheck.judge(try await $0.database.identity(on: $1)) }),
    (TokenAccessCheck.name, { TokenAccessCheck.judge(try await $0.database.tokenAccess(on: $1)) }),
    (TriggerCheck.name, { try await $0.triggers(on: $1) }),
    (
      IndexCheck.name,
      {
        IndexCheck.judge(
          queue: try await $0.database.indexes(DatabaseExamination.queueIndexes, on: $1),
          host: try await $0.database.indexes(DatabaseExamination.hostIndexes(of: $0.tables), on: $1))
      }
    ),
    (PlanCheck.name, { PlanCheck.judge(try await $0.database.claimPlan(on: $1)) }),
    (HostContractCheck.name, { try await $0.hostFunctions(on: $1) }),
    (ContractCheck.name, { try await $0.contract(on: $1) }),
    ("inbox", { BacklogCheck.judge(try await $0.database.backlog(on: $1)) }),
    (SnapshotCheck.name, { SnapshotCheck.judge(try await $0.database.snapshots(on: $1)) }),
    (TriggerFailureCheck.name, { TriggerFailureCheck.judge(try await $0.database.triggerFailures(on: $1)) }),
    (ErasureCheck.name, { [ErasureCheck.judge(try await $0.database.overdueErasures(on: $1))] }),
    (ZoneCheck.name, { [ZoneCheck.judge(try await $0.database.lostZones(on: $1))] }),
    (
      WebhookPostCheck.name,
      {
        // Its worker takes requests every few milliseconds.
        let webhook = try await $0.database.webhook(pausing: .seconds(1), on: $1)
        return WebhookPostCheck.judge(webhook, isListened: $0.isListened)
          + ($0.mayIdle ? [IdleCheck.judge(webhook)] : [])
      }
    ),
    (
      InstanceCheck.name,
      {
        let mayIdle = $0.mayIdle
        return try await $0.database.instances(on: $1).map { InstanceCheck.judge($0, mayIdle: mayIdle) } ?? []
      }
    ),
    (
      HostEventCheck.name,
      { [HostEventCheck.judge(try await $0.database.hostEvents(on: $1), isConfigured: $0.sendsEvents)] }
    ),
    (CampaignCheck.name, { try await $0.campaigns(on: $1) }),
    (CampaignWorkCheck.name, { try await $0.campaignWork(on: $1) }),
    (ModelUsageCheck.name, { try await $0.modelUsage(on: $1) }),
    (ActivityTypeCheck.name, { ActivityTypeCheck.judge(try await $0.database.activityTypes(on: $1)) }),
    (TextCheck.name, { TextCheck.judge(try await $0.database.texts(on: $1)) }),
    (DeviceTokenCheck.name, { try await $0.deviceTokens(on: $1) }),
    (
      SealingKeyCheck.name,
      {
        SealingKeyCheck.judge(
          try await $0.database.sealingKeys(on: $1), $0.addresses.tokens, apns: $0.apns)
      }
    ),
  ]

  /// Without a database each of these is skipped.
  static let names = [ListenCheck.name] + first.map(\.name) + laterNames
  private static let laterNames = later.map(\.name).filter {
    ![DatabaseCheck.name, CampaignWorkCheck.name, ModelUsageCheck.name, SealingKeyCheck.name].contains($0)
  }

  private let database: DatabaseExamination
  private let server: ExaminedServer
  private let apns: APNSSettings?
  /// Nil where campaigns are switched off.
  private let campaignSettings: SettingValues<CampaignSettings>?
  private let conninfo: String
  private let logger: Logger
  private let isListened: Bool
  private let mayIdle: Bool
  private let sendsEvents: Bool
  private let deadline: UInt64

  /// Those of the default host that the host contract reads.
  private var tables: Set<String> = []
  private var failedFunctions: Set<String> = []
  private var addresses = ExaminedAddresses()

  /// - Parameters:
  ///   - conninfo: for what needs a session that may write.
  ///   - mayIdle: whether the service leaves the database alone while nothing happens.
  ///   - sendsEvents: whether the settings say where events of the host go.
  ///   - deadline: no look begins after it, in monotonic nanoseconds.
  init(
    _ database: DatabaseExamination, _ server: ExaminedServer, conninfo: String, apns: APNSSettings?,
    campaigns: SettingValues<CampaignSettings>?, isListened: Bool, mayIdle: Bool, sendsEvents: Bool,
    until deadline: UInt64, logger: Logger
  ) {
    self.conninfo = conninfo
    self.logger = logger
    self.database = database
    self.server = server
    self.apns = apns
    campaignSettings = campaigns.flatMap { $0.isEnabled ? $0 : nil }
    self.isListened = isListened
    self.mayIdle = mayIdle
    self.sendsEvents = sendsEvents
    self.deadline = deadline
  }

  func run(on reactor: isolated Reactor, add: ([CheckFinding]) -> Void) async -> ExaminedAddresses {
    var migrations: [CheckFinding] = []
    for (name, look) in Self.first {
      let findings = await findings(of: name, look, on: reactor)
      add(findings)
      if name == MigrationCheck.name { migrations = findings }
    }
    guard migrations.allSatisfy({ $0.verdict == .ok || $0.verdict == .warning }) else {
      add(Self.laterNames.map { CheckFinding($0, .skipped, "needs the migrations") })
      return addresses
    }
    // If this fails, so do the looks that come to know why.
    tables = (try? await database.contractTables(on: reactor)) ?? []
    for (name, look) in Self.later { add(await findings(of: name, look, on: reactor)) }
    return addresses
  }

  /// Runs a look, unless the time is over; one that fails is a finding too.
  private func findings(of name: String, _ look: Look, on reactor: isolated Reactor) async -> [CheckFinding] {
    guard Reactor.now < deadline else {
      return [
        CheckFinding(
          name, .failure, "the database was too slow to get here",
          remedy: "see in pg_stat_activity what it is busy with")
      ]
    }
    do {
      return try await look(self, reactor)
    } catch let error as PostgresError {
      return [Self.judge(error, of: name)]
    } catch {
      return [CheckFinding(name, .failure, "\(error)")]
    }
  }

  static func judge(_ error: PostgresError, of name: String) -> CheckFinding {
    switch error.sqlState?.description {
    case "42501" where name == RightsCheck.name:
      return CheckFinding(
        name, .failure, "this role may use nothing of schema tacet",
        remedy: "as the owner of the schema, call tacet.grant_service with the role's name")
    case "42501":
      return CheckFinding(name, .skipped, "this role may not look; see the rights check")
    case "42P01", "42703", "42883", "3F000":
      return CheckFinding(
        name, .skipped, "there is nothing of this name to look at (\(error.description)); the host has its own")
    default:
      return CheckFinding(
        name, .failure, error.debugDescription, remedy: "see what the server's log says of it at this moment")
    }
  }
}

// Looks that take more than a statement.
extension SchemaLooks {
  private func migrations(on reactor: isolated Reactor) async throws(PostgresError) -> [CheckFinding] {
    let applied = try await database.appliedMigrations(on: reactor)
    switch SchemaSupport(applied: applied) {
    case .unreleased, .tooOld: return [MigrationCheck.judge(applied)]
    case .supported, .tooNew: break
    }
    return [
      MigrationCheck.judge(
        applied, changed: try await database.changedMigrations(on: reactor),
        outdatedFunctions: try await database.outdatedFunctions(on: reactor))
    ]
  }

  private func triggers(on reactor: isolated Reactor) async throws -> [CheckFinding] {
    TriggerCheck.judge(
      try await database.triggers(on: reactor), messageTables: try await database.messageTables(on: reactor),
      kinds: try await database.kindTriggers(on: reactor), tables: tables, replicationRole: server.replicationRole,
      replicationRoles: try await database.replicationRoles(on: reactor))
  }

  private func hostFunctions(on reactor: isolated Reactor) async throws -> [CheckFinding] {
    var failures: [(function: HostFunction, error: PostgresError)] = []
    for function in HostFunction.allCases where Reactor.now < deadline {
      do throws(PostgresError) {
        try await database.call(function, on: reactor)
      } catch {
        failures.append((function, error))
      }
    }
    failedFunctions = Set(failures.map(\.function.rawValue))
    return HostContractCheck.judge(failures, inert: try await database.inertFunctions(on: reactor))
  }

  private func contract(on reactor: isolated Reactor) async throws -> [CheckFinding] {
    if server.isStandby || server.isReadOnly { return [ContractCheck.untried] }
    let trials = try await DatabaseExamination.rehearseMessage(
      conninfo, within: .seconds(5), logger: logger, on: reactor)
    return ContractCheck.judge(trials.filter { !failedFunctions.contains($0.step) }, role: server.role)
  }

  private func campaigns(on reactor: isolated Reactor) async throws -> [CheckFinding] {
    guard campaignSettings != nil else { return [CampaignCheck.notUsed] }
    var looked: [(campaign: StoredCampaign, error: PostgresError?)] = []
    for campaign in try await database.campaigns(on: reactor) where Reactor.now < deadline {
      do throws(PostgresError) {
        try await database.call(campaign, on: reactor)
        looked.append((campaign, nil))
      } catch {
        looked.append((campaign, error))
      }
    }
    return CampaignCheck.judge(looked)
  }

  private func campaignWork(on reactor: isolated Reactor) async throws -> [CheckFinding] {
    guard let campaignSettings else { return [] }
    return CampaignWorkCheck.judge(try await database.campaignWork(minutes: campaignSettings.minutes, on: reactor))
  }

  private func modelUsage(on reactor: isolated Reactor) async throws -> [CheckFinding] {
    guard let campaignSettings else { return [] }
    return [ModelUsageCheck.judge(try await database.modelUsage(on: reactor), campaignSettings)]
  }

  private func deviceTokens(on reactor: isolated Reactor) async throws -> [CheckFinding] {
    let isDefaultHost = tables.contains("push_tokens")
    addresses.tokens = try await database.deviceTokens(isDefaultHost: isDefaultHost, on: reactor)
    guard isDefaultHost || !addresses.tokens.isEmpty else { return [DeviceTokenCheck.nobodyKnown] }
    return apns.map { DeviceTokenCheck.judge(addresses.tokens, apns: $0) } ?? []
  }
}
