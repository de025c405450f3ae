internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors
internal import Settings

/// The checks that ask a database that was reached.
struct SchemaLooks {
  /// Of all of them, for when there is no database.
  static let names = [
    ListenCheck.name, RightsCheck.name, MigrationCheck.name, TokenAccessCheck.name, TriggerCheck.name, IndexCheck.name,
    PlanCheck.name, HostContractCheck.name, ContractCheck.name, ClockCheck.name, "inbox", SnapshotCheck.name,
    TriggerFailureCheck.name, ErasureCheck.name, WebhookPostCheck.name, DeviceTokenCheck.name, InstanceCheck.name,
    CampaignCheck.name,
  ]

  private let database: DatabaseExamination
  private let server: ExaminedServer
  private let apns: APNSSettings?
  private let campaigns: SettingValues<CampaignSettings>?
  private let conninfo: String
  private let logger: Logger
  private let isListened: Bool
  private let deadline: UInt64

  /// - Parameters:
  ///   - conninfo: for what needs a session that may write.
  ///   - deadline: no look begins after it, in monotonic nanoseconds.
  init(
    _ database: DatabaseExamination, _ server: ExaminedServer, conninfo: String, apns: APNSSettings?,
    campaigns: SettingValues<CampaignSettings>?, isListened: Bool, until deadline: UInt64, logger: Logger
  ) {
    self.conninfo = conninfo
    self.logger = logger
    self.database = database
    self.server = server
    self.apns = apns
    self.campaigns = campaigns
    self.isListened = isListened
    self.deadline = deadline
  }

  /// - Returns: the device tokens.
  func run(on reactor: isolated Reactor, note: ([CheckFinding]) -> Void) async -> [DeviceTokenCount] {
    note(
      await look(ClockCheck.name) { () async throws(PostgresError) in
        [ClockCheck.judge(try await database.clock(on: reactor))]
      })
    note(
      await look(RightsCheck.name) { () async throws(PostgresError) in
        RightsCheck.judge(try await database.missingRights(on: reactor), role: server.role)
      })
    let migrations = await look(MigrationCheck.name) { () async throws(PostgresError) in
      let applied = try await database.appliedMigrations(on: reactor)
      let isComplete = Migration.all.allSatisfy { applied.contains($0.version) }
      let outdated = isComplete ? try await database.outdatedFunctions(on: reactor) : []
      return [MigrationCheck.judge(applied: applied, known: Migration.all, outdatedFunctions: outdated)]
    }
    note(migrations)
    guard migrations.allSatisfy({ $0.verdict == .ok || $0.verdict == .warning }) else {
      let rest = Self.names[(Self.names.firstIndex(of: TokenAccessCheck.name) ?? 0)...].filter { $0 != ClockCheck.name }
      note(rest.map { CheckFinding($0, .skipped, "needs the migrations") })
      return []
    }
    note(
      await look(TokenAccessCheck.name) { () async throws(PostgresError) in
        TokenAccessCheck.judge(try await database.tokenAccess(on: reactor))
      })
    // If this fails, so do the looks that come to know why.
    let tables = (try? await database.contractTables(on: reactor)) ?? []
    await lookAtSchema(tables, on: reactor, note: note)
    return await lookAtWork(tables, on: reactor, note: note)
  }

  private func lookAtSchema(
    _ tables: Set<String>, on reactor: isolated Reactor, note: ([CheckFinding]) -> Void
  ) async {
    note(
      await look(TriggerCheck.name) { () async throws(PostgresError) in
        TriggerCheck.judge(
          try await database.triggers(on: reactor), kinds: try await database.kindTriggers(on: reactor), tables: tables,
          replicationRole: server.replicationRole, replicationRoles: try await database.replicationRoles(on: reactor))
      })
    note(
      await look(IndexCheck.name) { () async throws(PostgresError) in
        IndexCheck.judge(
          queue: try await database.indexes(DatabaseExamination.queueIndexes, on: reactor),
          host: try await database.indexes(DatabaseExamination.hostIndexes(of: tables), on: reactor))
      })
    note(
      await look(PlanCheck.name) { () async throws(PostgresError) in
        PlanCheck.judge(try await database.claimPlan(on: reactor))
      })
    var failures: [(function: HostFunction, error: PostgresError)] = []
    for function in HostFunction.allCases where Reactor.now < deadline {
      do throws(PostgresError) {
        try await database.call(function, on: reactor)
      } catch {
        failures.append((function, error))
      }
    }
    note(HostContractCheck.judge(failures))
    let known = Set(failures.map(\.function.rawValue))
    note(
      await look(ContractCheck.name) { () async throws(PostgresError) in
        let trials = try await DatabaseExamination.rehearseMessage(
          conninfo, within: .seconds(5), logger: logger, on: reactor)
        return ContractCheck.judge(trials.filter { !known.contains($0.step) }, role: server.role)
      })
  }

  private func lookAtWork(
    _ tables: Set<String>, on reactor: isolated Reactor, note: ([CheckFinding]) -> Void
  ) async -> [DeviceTokenCount] {
    note(
      await look("inbox") { () async throws(PostgresError) in
        BacklogCheck.judge(try await database.backlog(on: reactor))
      })
    note(
      await look(SnapshotCheck.name) { () async throws(PostgresError) in
        SnapshotCheck.judge(try await database.snapshots(on: reactor))
      })
    note(
      await look(TriggerFailureCheck.name) { () async throws(PostgresError) in
        TriggerFailureCheck.judge(try await database.triggerFailures(on: reactor))
      })
    note(
      await look(ErasureCheck.name) { () async throws(PostgresError) in
        [ErasureCheck.judge(try await database.overdueErasures(on: reactor))]
      })
    note(
      await look(WebhookPostCheck.name) { () async throws(PostgresError) in
        // Its worker takes requests every few milliseconds.
        let webhook = try await database.webhook(pausing: .seconds(1), on: reactor)
        return WebhookPostCheck.judge(webhook, isListened: isListened)
      })
    note(
      await look(InstanceCheck.name) { () async throws(PostgresError) in
        try await database.instances(on: reactor).map(InstanceCheck.judge) ?? []
      })
    await lookAtCampaigns(on: reactor, note: note)
    var tokens: [DeviceTokenCount] = []
    note(
      await look(DeviceTokenCheck.name) { () async throws(PostgresError) in
        let isDefaultHost = tables.contains("push_tokens")
        tokens = try await database.deviceTokens(isDefaultHost: isDefaultHost, on: reactor)
        guard isDefaultHost || !tokens.isEmpty else { return [DeviceTokenCheck.nobodyKnown] }
        return apns.map { DeviceTokenCheck.judge(tokens, apns: $0) } ?? []
      })
    return tokens
  }

  private func lookAtCampaigns(on reactor: isolated Reactor, note: ([CheckFinding]) -> Void) async {
    guard let campaigns, campaigns.isEnabled else { return note([CampaignCheck.notUsed]) }
    note(
      await look(CampaignCheck.name) { () async throws(PostgresError) in
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
      })
    note(
      await look(CampaignWorkCheck.name) { () async throws(PostgresError) in
        CampaignWorkCheck.judge(try await database.campaignWork(minutes: campaigns.minutes, on: reactor))
      })
    note(
      await look(ModelUsageCheck.name) { () async throws(PostgresError) in
        [ModelUsageCheck.judge(try await database.modelUsage(on: reactor), campaigns)]
      })
  }

  /// Runs a look, unless the time is over; one that fails is a finding too.
  private func look(
    _ name: String, _ body: () async throws(PostgresError) -> [CheckFinding]
  ) async -> [CheckFinding] {
    guard Reactor.now < deadline else {
      return [
        CheckFinding(
          name, .failure, "the database was too slow to get here",
          remedy: "see in pg_stat_activity what it is busy with")
      ]
    }
    do throws(PostgresError) {
      return try await body()
    } catch {
      return [Self.judge(error, of: name)]
    }
  }

  static func judge(_ error: PostgresError, of name: String) -> CheckFinding {
    switch error.sqlState?.description {
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
