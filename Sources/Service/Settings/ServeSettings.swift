package import PushRules

/// The settings of the running service, read once at its start.
///
/// The settings of the process itself are members: `settings.reactors`.
@dynamicMemberLookup
package struct ServeSettings: Equatable, Sendable {
  package let database: SettingValues<DatabaseSettings>
  private let process: SettingValues<ProcessSettings>
  package let http: SettingValues<HTTPSettings>
  /// What it proves itself with to them; nil without TLS.
  package let tls: TLSSettings?
  package let webhooks: SettingValues<WebhookSettings>
  package let callers: SettingValues<CallerSettings>
  package let apns: APNSSettings
  package let webPush: WebPushSettings?
  private let webPushValues: SettingValues<WebPushTable>
  package let fcm: FCMSettings?
  private let fcmValues: SettingValues<FCMTable>
  package let events: EventSettings?
  private let eventValues: SettingValues<EventTable>
  private let policy: SettingValues<PolicySettings>
  package let campaigns: SettingValues<CampaignSettings>
  package let log: SettingValues<LogSettings>

  /// Reads the settings of `tacet serve`.
  ///
  /// - Parameters:
  ///   - environment: the process's environment. It wins over the file that its `TACET_CONFIG` names; an empty value
  ///     counts as absent.
  ///   - readFile: how files are read: the settings file, the private key, the certificates.
  /// - Throws: every problem at once.
  package init(
    environment: [String: String],
    readFile: @escaping (String) throws(LocalFile.ReadError) -> [UInt8] = LocalFile.read(path:)
  ) throws(SettingsError) {
    var reader = SettingsReader(environment: environment, readFile: readFile)
    database = SettingValues(DatabaseSettings(), &reader)
    process = SettingValues(ProcessSettings(), &reader)
    http = SettingValues(HTTPSettings(), &reader)
    tls = TLSSettings(&reader)
    webhooks = SettingValues(WebhookSettings(), &reader)
    callers = SettingValues(CallerSettings(), &reader)
    let apns = APNSSettings(&reader)
    webPushValues = SettingValues(WebPushTable(), &reader)
    webPush = WebPushSettings(webPushValues, &reader)
    fcmValues = SettingValues(FCMTable(), &reader)
    fcm = FCMSettings(fcmValues, &reader)
    eventValues = SettingValues(EventTable(), &reader)
    events = EventSettings(eventValues, &reader)
    policy = SettingValues(PolicySettings(), &reader)
    campaigns = SettingValues(CampaignSettings(), &reader)
    log = SettingValues(LogSettings(), &reader)
    try reader.finish()
    guard let apns else { preconditionFailure("there are no apps, but no problem was recorded") }
    self.apns = apns
  }

  package subscript<Value>(dynamicMember row: KeyPath<ProcessSettings, Setting<Value>>) -> Value {
    process[dynamicMember: row]
  }

  package var suppression: SuppressionPolicy {
    SuppressionPolicy(window: policy.window, timeToLive: policy.timeToLive)
  }

  /// How bursts of messages fold; nil for a push of each message.
  package var folding: FoldPolicy? { policy.foldWindow > .zero ? FoldPolicy(window: policy.foldWindow) : nil }

  package var shadow: ShadowedKinds { policy.shadow }

  /// How long finished work is kept: `RETENTION_DAYS`, and never less than a message's time to live and a day.
  ///
  /// The ledger is what keeps a message that comes a second time from being pushed a second time. Once the message has
  /// expired, its age does. That does not count while the message is held, which a day is more than enough for.
  package var retention: Duration {
    let day = Duration.seconds(86_400)
    return max(day * policy.retentionDays, policy.timeToLive + day)
  }

  /// The names of the settings that took effect at the start and say something else now: the service needs a restart to
  /// follow them. Keys of apps and another certificate are not among them, but whether there is a certificate is.
  package func keysNeedingRestart(since start: ServeSettings) -> [String] {
    let secured = (tls == nil) == (start.tls == nil) ? [] : [TLSTable().certificateFile.name]
    let changes =
      http.changes(since: start.http) + database.changes(since: start.database)
      + process.changes(since: start.process) + webhooks.changes(since: start.webhooks)
      + callers.changes(since: start.callers) + webPushValues.changes(since: start.webPushValues)
      + fcmValues.changes(since: start.fcmValues) + eventValues.changes(since: start.eventValues)
      + policy.changes(since: start.policy) + campaigns.changes(since: start.campaigns)
      + log.changes(since: start.log)
    return secured + apns.changes(since: start.apns) + changes.map(\.name)
  }
}

/// What the HTTP service proves itself with.
package struct TLSSettings: Equatable, Sendable {
  /// The certificate and its intermediates, as PEM text.
  package let certificate: String
  /// The certificate's key, as PEM text.
  package let key: Secret<String>

  /// Nil without TLS, and when a problem was recorded.
  init?(_ reader: inout SettingsReader) {
    let names = [TLSTable().certificateFile.name, TLSTable().keyFile.name]
    let missing = names.filter { reader.text($0) == nil }
    if missing.count == 1 { reader.recordMissing(missing[0]) }
    guard let certificate = reader.file(names[0]), let key = reader.file(names[1]) else { return nil }
    self.certificate = certificate
    self.key = Secret(key)
  }
}

extension SettingValues<CallerSettings> {
  /// Whether clients can prove who they are; otherwise the client endpoints are off.
  package var acceptsClients: Bool { self.jwtSecret != nil || self.keySetURL != nil }
}

/// The settings of commands that only need the database.
package struct CommandSettings: Equatable, Sendable {
  package let database: SettingValues<DatabaseSettings>
  package let log: SettingValues<LogSettings>

  /// Reads the settings of a command. Values of other settings are not looked at, but unknown keys are refused all the same.
  ///
  /// - Parameters:
  ///   - environment: the process's environment, which wins over the file that its `TACET_CONFIG` names.
  ///   - needsSession: whether a pooler that lends sessions by transactions is refused. Only one migrator may work at a
  ///     time, and it says so by a lock of its session.
  ///   - readFile: how the settings file is read.
  /// - Throws: every problem at once.
  package init(
    environment: [String: String], needsSession: Bool,
    readFile: @escaping (String) throws(LocalFile.ReadError) -> [UInt8] = LocalFile.read(path:)
  ) throws(SettingsError) {
    var reader = SettingsReader(environment: environment, readFile: readFile)
    database = SettingValues(DatabaseSettings(), &reader)
    log = SettingValues(LogSettings(), &reader)
    if needsSession, database.poolMode == .transaction {
      reader.record(
        .conflicting, DatabaseSettings().poolMode.name,
        "is transaction, and migrations need a session: set DATABASE_URL to the server itself, and this to session")
    }
    try reader.finish()
  }
}

/// As much of the settings as can be read, and everything that is wrong with them: for looking at a service that perhaps
/// cannot start.
package struct ExaminedSettings: Sendable {
  package struct SecretFile: Equatable, Sendable {
    /// The name of the setting that names it.
    package let key: String
    package let path: String

    package init(key: String, path: String) {
      self.key = key
      self.path = path
    }
  }

  /// What keeps `tacet serve` from starting; empty when nothing does.
  package let problems: [SettingsProblem]
  /// Nil when it cannot be used.
  package let database: SettingValues<DatabaseSettings>?
  /// Nil when anything of it cannot be used.
  package let apns: APNSSettings?
  /// Nil without browsers, and when anything of it cannot be used.
  package let webPush: WebPushSettings?
  /// Nil without Android, and when anything of it cannot be used.
  package let fcm: FCMSettings?
  /// Nil without events for the host, and when anything of it cannot be used.
  package let events: EventSettings?
  /// Nil when anything of it cannot be used.
  package let callers: SettingValues<CallerSettings>?
  /// Nil when anything of it cannot be used.
  package let campaigns: SettingValues<CampaignSettings>?
  /// The kinds whose pushes are not sent; nil when the rules' settings cannot be used.
  package let shadow: ShadowedKinds?
  /// Variables of the environment that name a proxy, and that nothing here uses.
  package let unusedProxies: [String]
  /// The settings file, and the files with private keys, each once. What is no path of a file is left out by the check of
  /// their permissions: a key may have been pasted where its file should be named.
  package let secretFiles: [SecretFile]

  /// Reads the settings of `tacet serve`, part by part.
  /// - Parameters:
  ///   - environment: the process's environment. readFile: how files are read.
  package init(
    environment: [String: String],
    readFile: @escaping (String) throws(LocalFile.ReadError) -> [UInt8] = LocalFile.read(path:)
  ) {
    do throws(SettingsError) {
      _ = try ServeSettings(environment: environment, readFile: readFile)
      problems = []
    } catch {
      problems = error.problems
    }
    func part<Part>(_ read: (inout SettingsReader) -> Part?) -> Part? {
      var reader = SettingsReader(environment: environment, readFile: readFile)
      let before = reader.problems.count
      let part = read(&reader)
      return reader.problems.count == before ? part : nil
    }
    database = part { SettingValues(DatabaseSettings(), &$0) }
    apns = part { APNSSettings(&$0) }
    webPush = part { WebPushSettings(SettingValues(WebPushTable(), &$0), &$0) }
    fcm = part { FCMSettings(SettingValues(FCMTable(), &$0), &$0) }
    events = part { EventSettings(SettingValues(EventTable(), &$0), &$0) }
    callers = part { SettingValues(CallerSettings(), &$0) }
    campaigns = part { SettingValues(CampaignSettings(), &$0) }
    shadow = part { SettingValues(PolicySettings(), &$0) }?.shadow
    unusedProxies = UnusedProxies.names(in: environment)
    var reader = SettingsReader(environment: environment, readFile: readFile)
    let (configFile, keyFile) = (SettingNames.configFile, AppTable().privateKeyFile.name)
    var files = environment[configFile].map { [SecretFile(key: configFile, path: $0)] } ?? []
    let others = [TLSTable().keyFile.name, WebPushTable().privateKeyFile.name, FCMTable().accountFile.name]
    for key in [keyFile] + others {
      if let path = reader.text(key) { files.append(SecretFile(key: key, path: path)) }
    }
    for section in reader.apps {
      let path = reader.reading(section) { $0.text(keyFile) }
      if let path { files.append(SecretFile(key: keyFile, path: path)) }
    }
    secretFiles = files.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}

/// The variables by which other programs learn of a proxy. Pushes, key sets and models are reached directly.
package enum UnusedProxies {
  /// Why they say nothing, for the log and for `tacet doctor`.
  package static let notice =
    "set, and not used: Tacet connects to push services, key sets and language models directly"

  package static func names(in environment: [String: String]) -> [String] {
    ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].filter { !environment[$0, default: ""].isEmpty }
  }
}
