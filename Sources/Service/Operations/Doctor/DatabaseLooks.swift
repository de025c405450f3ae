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
