/// A setting by the name it has in the environment and in the settings file.
public enum SettingKey: String, CaseIterable, Sendable {
  /// Where the database is: a libpq URI or connection string.
  case databaseURL = "DATABASE_URL"
  /// Whether a pooler lends the database's sessions by transactions.
  case databasePoolMode = "DATABASE_POOL_MODE"
  /// Where the service listens.
  case listenAddress = "LISTEN_ADDRESS"
  /// Where `/metrics` is served instead.
  case metricsAddress = "METRICS_ADDRESS"
  /// The permissions of a Unix socket's file.
  case listenSocketMode = "LISTEN_SOCKET_MODE"
  /// The certificate the service proves itself with, and its intermediates.
  case tlsCertificateFile = "TLS_CERTIFICATE_FILE"
  /// The key of that certificate.
  case tlsKeyFile = "TLS_KEY_FILE"
  /// Who may say whom a request comes from.
  case trustedProxies = "TRUSTED_PROXIES"
  /// The header field in which they say it.
  case trustedProxyHeader = "TRUSTED_PROXY_HEADER"
  /// How many connections may be open.
  case httpConnectionsMax = "HTTP_CONNECTIONS_MAX"
  /// How many connections one peer may have.
  case httpPeerConnectionsMax = "HTTP_PEER_CONNECTIONS_MAX"
  /// How many requests one connection may carry.
  case httpConnectionRequestsMax = "HTTP_CONNECTION_REQUESTS_MAX"
  /// How long a request line may be.
  case httpRequestLineBytesMax = "HTTP_REQUEST_LINE_BYTES_MAX"
  /// How many header fields a request may have.
  case httpHeaderCountMax = "HTTP_HEADER_COUNT_MAX"
  /// How large all header fields together may be.
  case httpHeaderBytesMax = "HTTP_HEADER_BYTES_MAX"
  /// How large the content may be.
  case httpBodyBytesMax = "HTTP_BODY_BYTES_MAX"
  /// How slow the content may be.
  case httpBodyBytesPerSecondMin = "HTTP_BODY_BYTES_PER_SECOND_MIN"
  /// How long a head may take.
  case httpHeaderSeconds = "HTTP_HEADER_SECONDS"
  /// How long the content may take.
  case httpBodySeconds = "HTTP_BODY_SECONDS"
  /// How long a connection waits for another request.
  case httpIdleSeconds = "HTTP_IDLE_SECONDS"
  /// How long a peer may take to accept an answer.
  case httpWriteSeconds = "HTTP_WRITE_SECONDS"
  /// What database webhooks prove themselves with.
  case webhookSecret = "WEBHOOK_SECRET"
  /// How long an ingest answer waits for the outcome.
  case webhookWaitMilliseconds = "WEBHOOK_WAIT_MILLISECONDS"
  /// What other servers prove themselves with.
  case serviceKey = "SERVICE_KEY"
  /// The HS256 secret that clients' tokens are signed with.
  case jwtSecret = "JWT_SECRET"
  /// Where the key set for clients' tokens is.
  case jwksURL = "JWKS_URL"
  /// How many devices a user keeps.
  case devicesPerUserMax = "DEVICES_PER_USER_MAX"
  /// Up to which number unread messages are counted.
  case badgeMax = "BADGE_MAX"
  /// Certificates trusted instead of the system's where the key set is.
  case jwksCAFile = "JWKS_CA_FILE"
  /// Whom clients' tokens are for.
  case jwtAudience = "JWT_AUDIENCE"
  /// Who issues clients' tokens.
  case jwtIssuer = "JWT_ISSUER"
  /// The identifier of the APNs signing key.
  case apnsKeyID = "APNS_KEY_ID"
  /// The identifier of the developer team.
  case apnsTeamID = "APNS_TEAM_ID"
  /// The app that pushes go to, unless a device token names another.
  case apnsBundleID = "APNS_BUNDLE_ID"
  /// The APNs signing key itself.
  case apnsPrivateKey = "APNS_PRIVATE_KEY"
  /// The file with the APNs signing key.
  case apnsPrivateKeyFile = "APNS_PRIVATE_KEY_FILE"
  /// The push service of device tokens that do not say theirs.
  case apnsEnvironment = "APNS_ENVIRONMENT"
  /// The production push service.
  case apnsURL = "APNS_URL"
  /// The sandbox push service.
  case apnsSandboxURL = "APNS_SANDBOX_URL"
  /// Certificates trusted besides the system's.
  case apnsCAFile = "APNS_CA_FILE"
  /// How long a sign of presence counts.
  case suppressionWindowSeconds = "SUPPRESSION_WINDOW_SECONDS"
  /// How old a message may be when its push goes out.
  case messageTTLSeconds = "MESSAGE_TTL_SECONDS"
  /// How many days finished work is kept.
  case retentionDays = "RETENTION_DAYS"
  /// Whether a user's other devices are told of what was read.
  case readSyncEnabled = "READ_SYNC_ENABLED"
  /// Whether the proactive run may send.
  case pushTriggerEnabled = "PUSH_TRIGGER_ENABLED"
  /// When campaigns look at each user, where they name no time.
  case pushTriggerTime = "PUSH_TRIGGER_TIME"
  /// Whose interface the language model has.
  case languageModelProvider = "LANGUAGE_MODEL_PROVIDER"
  /// Where the language model is.
  case languageModelURL = "LANGUAGE_MODEL_URL"
  /// What the service proves itself with to it.
  case languageModelKey = "LANGUAGE_MODEL_KEY"
  /// Which model writes.
  case languageModelName = "LANGUAGE_MODEL_NAME"
  /// Certificates trusted instead of the system's where the language model is.
  case languageModelCAFile = "LANGUAGE_MODEL_CA_FILE"
  /// How long a call may take.
  case languageModelMilliseconds = "LANGUAGE_MODEL_MILLISECONDS"
  /// What a million tokens cost that the model reads.
  case languageModelInputDollars = "LANGUAGE_MODEL_INPUT_DOLLARS"
  /// What a million tokens cost that the model writes.
  case languageModelOutputDollars = "LANGUAGE_MODEL_OUTPUT_DOLLARS"
  /// How many tokens may be used on a day.
  case languageModelDailyTokensMax = "LANGUAGE_MODEL_DAILY_TOKENS_MAX"
  /// How much money may be used on a day.
  case languageModelDailyDollarsMax = "LANGUAGE_MODEL_DAILY_DOLLARS_MAX"
  /// How many event-loop threads there are.
  case reactors = "REACTORS"
  /// How long a stop may take.
  case drainSeconds = "DRAIN_SECONDS"
  /// The least severe messages that are logged.
  case logLevel = "LOG_LEVEL"
  /// How log messages look.
  case logFormat = "LOG_FORMAT"
  /// The settings file; in the environment only.
  case configFile = "TACET_CONFIG"
}

extension SettingKey {
  /// Whether the value must never be shown: it is a secret, or may hold one, as a URL holds a password and as a key is
  /// pasted where its file should be named.
  public var isSecret: Bool {
    switch self {
    case .databaseURL, .webhookSecret, .serviceKey, .jwtSecret, .jwksURL, .apnsPrivateKey, .apnsPrivateKeyFile,
      .apnsURL, .apnsSandboxURL, .tlsKeyFile, .languageModelURL, .languageModelKey:
      true
    default: false
    }
  }

  /// Beginnings of names that nothing but this service would use, so an unknown name with one of them is a typing
  /// error. Names like `LOG_…`, `DATABASE_…` and `HTTP_…` (`HTTP_PROXY`) belong to everybody.
  static let ownPrefixes = [
    "APNS_", "BADGE_", "DEVICES_PER_", "DRAIN_", "HTTP_BODY_", "HTTP_CONNECTION", "HTTP_HEADER_", "HTTP_IDLE_",
    "HTTP_PEER_",
    "HTTP_REQUEST_", "HTTP_WRITE_", "JWKS_", "JWT_AUD", "JWT_ISS", "LANGUAGE_MODEL_", "LISTEN_ADDR", "LISTEN_SOCKET_",
    "MESSAGE_TTL", "METRICS_ADDR",
    "PUSH_TRIGGER_", "READ_SYNC_", "RETENTION_",
    "SUPPRESSION_", "TACET_", "TLS_CERT", "TLS_KEY", "TRUSTED_PROX", "WEBHOOK_",
  ]

  /// The known key that a mistyped one is most like: few letters differ, and more of the beginning is the same, since
  /// people leave endings off.
  static func nearest(to name: String, among known: [SettingKey] = allCases) -> SettingKey {
    func unlikeness(_ key: SettingKey) -> Int {
      distance(from: name, to: key.rawValue) - zip(name.utf8, key.rawValue.utf8).prefix { $0 == $1 }.count
    }
    return known.min { unlikeness($0) < unlikeness($1) } ?? .configFile
  }

  /// Insertions, deletions and replacements that turn one name into the other (Levenshtein's distance).
  private static func distance(from one: String, to other: String) -> Int {
    let other = Array(other.utf8)
    var previous = Array(0...other.count)
    for (row, byte) in one.utf8.enumerated() {
      var current = [row + 1]
      for (column, otherByte) in other.enumerated() {
        let replaced = previous[column] + (byte == otherByte ? 0 : 1)
        current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
      }
      previous = current
    }
    return previous[other.count]
  }
}
