package import Channels
package import HTTP1
internal import Postgres
package import PushRules

/// The settings of the running service, read once at its start.
///
/// The settings of the process itself are members: `settings.reactors`.
@dynamicMemberLookup
package struct ServeSettings: Sendable {
  package let database: DatabaseSettings
  private let process: ProcessSettings
  package let http: HTTPServiceConfiguration
  /// What it proves itself with to them; nil without TLS.
  package let tls: TLSSettings?
  package let webhooks: WebhookSettings
  package let callers: CallerSettings
  package let apns: APNSSettings
  private let channelReadings: [ChannelReading]
  package let events: EventSettings?
  private let eventValues: EventValues
  private let policy: PolicySettings
  package let campaigns: CampaignSettings
  package let log: LogSettings

  /// Reads the settings of `tacet serve`.
  ///
  /// - Parameters:
  ///   - environment: the process's environment. It wins over the file that its `TACET_CONFIG` names; an empty value
  ///     counts as absent.
  ///   - readFile: how files are read: the settings file, the private key, the certificates.
  /// - Throws: every problem at once.
  package init(
    environment: [String: String],
    readFile: @escaping (String) throws(FileReadError) -> [UInt8] = LocalFile.read(path:)
  ) throws(SettingsError) {
    var reader = SettingsReader(environment: environment, readFile: readFile)
    database = DatabaseSettings(&reader)
    process = ProcessSettings(&reader)
    http = HTTPServiceConfiguration(&reader)
    tls = TLSSettings(&reader)
    webhooks = WebhookSettings(&reader)
    callers = CallerSettings(&reader)
    let apns = APNSSettings(&reader)
    channelReadings = KnownChannels.all.map { $0.read(&reader) }
    eventValues = EventValues(&reader)
    events = EventSettings(eventValues, &reader)
    policy = PolicySettings(&reader)
    campaigns = CampaignSettings(&reader)
    log = LogSettings(&reader)
    try reader.finish()
    guard let apns else { preconditionFailure("there are no apps, but no problem was recorded") }
    self.apns = apns
  }

  package subscript<Value>(dynamicMember member: KeyPath<ProcessSettings, Value>) -> Value {
    process[keyPath: member]
  }

  /// The channels beside APNs that are set up.
  package var channels: [any ConfiguredChannel] { channelReadings.compactMap(\.channel) }

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
    let secured = (tls == nil) == (start.tls == nil) ? [] : [TLSSettings.certificateFile.text]
    let ofChannels = zip(channelReadings, start.channelReadings).flatMap { $0.changes(since: $1) }
    let changes =
      http.changes(since: start.http) + database.changes(since: start.database)
      + process.changes(since: start.process) + webhooks.changes(since: start.webhooks)
      + callers.changes(since: start.callers) + ofChannels + eventValues.changes(since: start.eventValues)
      + policy.changes(since: start.policy) + campaigns.changes(since: start.campaigns)
      + log.changes(since: start.log)
    return secured + apns.changes(since: start.apns) + changes
  }
}

/// What the HTTP service proves itself with.
package struct TLSSettings: Equatable, Sendable {
  /// The certificate and its intermediates, as PEM text.
  package let certificate: String
  /// The certificate's key, as PEM text.
  package let key: Secret<String>

  static let names = [certificateFile, keyFile]
  static let certificateFile: SettingName = "TLS_CERTIFICATE_FILE"
  static let keyFile = SettingName.secret("TLS_KEY_FILE")

  /// Nil without TLS, and when a problem was recorded.
  init?(_ reader: inout SettingsReader) {
    let missing = Self.names.filter { reader.text($0) == nil }
    if missing.count == 1 { reader.recordMissing(missing[0]) }
    guard let certificate = reader.file(Self.certificateFile), let key = reader.file(Self.keyFile) else { return nil }
    self.certificate = certificate
    self.key = Secret(key)
  }
}

/// The settings of commands that only need the database.
package struct CommandSettings: Sendable {
  package let database: DatabaseSettings
  package let log: LogSettings

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
    readFile: @escaping (String) throws(FileReadError) -> [UInt8] = LocalFile.read(path:)
  ) throws(SettingsError) {
    var reader = SettingsReader(environment: environment, readFile: readFile)
    database = DatabaseSettings(&reader)
    log = LogSettings(&reader)
    if needsSession, database.poolMode == .transaction {
      reader.record(
        .conflicting, "DATABASE_POOL_MODE",
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
  }

  /// What keeps `tacet serve` from starting; empty when nothing does.
  package let problems: [SettingsProblem]
  // Each part is nil when anything of it cannot be used; events also where they are not set up.
  package let database: DatabaseSettings?
  package let apns: APNSSettings?
  /// Every known channel, set up or not.
  package let channels: [ChannelReading]
  package let events: EventSettings?
  package let callers: CallerSettings?
  package let campaigns: CampaignSettings?
  /// The kinds whose pushes are not sent.
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
    readFile: @escaping (String) throws(FileReadError) -> [UInt8] = LocalFile.read(path:)
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
    database = part { DatabaseSettings(&$0) }
    apns = part { APNSSettings(&$0) }
    events = part { EventSettings(EventValues(&$0), &$0) }
    callers = part { CallerSettings(&$0) }
    campaigns = part { CampaignSettings(&$0) }
    shadow = part { PolicySettings(&$0) }?.shadow
    unusedProxies = UnusedProxies.names(in: environment)
    var reader = SettingsReader(environment: environment, readFile: readFile)
    channels = KnownChannels.all.map { $0.read(&reader) }
    let configFile = SettingNames.configFile.text
    var files = environment[configFile].map { [SecretFile(key: configFile, path: $0)] } ?? []
    func add(_ name: SettingName, _ reader: SettingsReader) {
      guard let path = reader.text(name) else { return }
      let file = SecretFile(key: name.text, path: path)
      if !files.contains(file) { files.append(file) }
    }
    let keyFile = AppFields.privateKeyFile
    for name in [keyFile, TLSSettings.keyFile] + KnownChannels.all.flatMap({ $0.secretFiles }) { add(name, reader) }
    for section in reader.apps { reader.reading(section) { add(keyFile, $0) } }
    secretFiles = files
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
