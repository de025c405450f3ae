public import PushRules

/// Everything that the running service is told from outside, read once at its start.
public struct ServeSettings: Equatable, Sendable {
  /// The database.
  public let database: DatabaseSettings
  /// Where the service listens; `127.0.0.1:8080` unless set.
  public let listenAddress: ListenAddress
  /// Where `/metrics` is served, and nothing else, over plain HTTP; nil serves it at ``listenAddress``.
  public let metricsAddress: ListenAddress?
  /// What its HTTP peers may do.
  public let http: HTTPSettings
  /// What it proves itself with to them; nil without TLS.
  public let tls: TLSSettings?
  /// Database webhooks.
  public let webhooks: WebhookSettings
  /// Apps and other servers.
  public let callers: CallerSettings
  /// How many devices a user keeps, from 1 to 50, the last registered ones; 10 unless set. Each message is sent to all
  /// of them.
  public let devicesPerUserMax: Int
  /// Up to which number unread messages are counted, from 1 to 10,000; 999 unless set. What a badge costs grows with it.
  public let badgeMax: Int
  /// The push service.
  public let apns: APNSSettings
  /// When pushes are withheld.
  public let suppression: SuppressionPolicy
  /// How long finished work is kept.
  public let retention: RetentionSettings
  /// Whether a user's other devices are told of what was read; on unless set.
  public let isReadSyncEnabled: Bool
  /// Pushes that no event asks for.
  public let campaigns: CampaignSettings
  /// Event-loop threads, from 1 to 256; nil for one for each core.
  public let reactors: Int?
  /// How long a stop waits for requests in flight, and then again for pushes in flight; from 1 s to 10 minutes.
  public let drainLimit: Duration
  /// Log messages.
  public let log: LogSettings

  /// Reads the settings of `tacet serve`.
  ///
  /// - Parameters:
  ///   - environment: the process's environment. It wins over the file that its `TACET_CONFIG` names; an empty value
  ///     counts as none.
  ///   - readFile: how files are read: the settings file, the private key, the certificates.
  /// - Throws: every problem at once.
  public init(
    environment: [String: String],
    readFile: @escaping (String) throws(LocalFile.ReadError) -> [UInt8] = LocalFile.read(path:)
  ) throws(SettingsError) {
    var reader = SettingsReader(environment: environment, readFile: readFile)
    let database = DatabaseSettings(&reader)
    listenAddress = reader.optional(.listenAddress, ListenAddress.init) ?? .tcp(host: "127.0.0.1", port: 8080)
    metricsAddress = reader.optional(.metricsAddress, ListenAddress.init)
    http = HTTPSettings(&reader)
    tls = TLSSettings(&reader)
    let webhooks = WebhookSettings(&reader)
    callers = CallerSettings(&reader)
    let devices = reader.optional(.devicesPerUserMax) { text throws(UnusableValue) in
      // As many as a claim takes of one user.
      try SettingNumbers.integer(text, in: 1...50)
    }
    devicesPerUserMax = devices ?? 10
    badgeMax =
      reader.optional(.badgeMax) { text throws(UnusableValue) in try SettingNumbers.integer(text, in: 1...10_000) }
      ?? 999
    let apns = APNSSettings(&reader)
    suppression = SuppressionPolicy(&reader)
    retention = RetentionSettings(&reader, policy: suppression)
    isReadSyncEnabled = reader.optional(.readSyncEnabled, SettingNumbers.boolean) ?? true
    campaigns = CampaignSettings(&reader)
    reactors = reader.optional(.reactors) { text throws(UnusableValue) in try SettingNumbers.integer(text, in: 1...256)
    }
    let drainSeconds = reader.optional(.drainSeconds) { text throws(UnusableValue) in
      try SettingNumbers.integer(text, in: 1...600)
    }
    // Longer than APNs takes for a push, and twice as long is what process managers wait, 30 s or more.
    drainLimit = .seconds(drainSeconds ?? 15)
    log = LogSettings(&reader)
    try reader.finish()
    guard let database, let webhooks, let apns else {
      preconditionFailure("a required setting is nil, but no problem was noted")
    }
    self.database = database
    self.webhooks = webhooks
    self.apns = apns
  }
}
