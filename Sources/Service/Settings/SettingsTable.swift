package import HTTP1
package import Postgres
package import PushRules

// Every setting is in the table of its group once. A new one takes a member with its default, a row, its use, a line in the page of
// settings, and a test.

package struct DatabaseSettings: SettingsGroup {
  /// How messages are found while nothing else happens.
  package enum IdleMode: String, CaseIterable, Sendable {
    /// By notifications and polls.
    case poll
    /// By webhooks: the database may sleep.
    case webhook
  }

  /// What libpq takes: a `postgresql://` URI or a `keyword=value` string, several hosts allowed. Secret, as it may hold
  /// the password.
  package var connectionString = Secret("")
  package var poolMode = PostgresPoolMode.session
  package var idleMode = IdleMode.poll
  /// After how long without work that begins. A minute of a conversation has more messages in it, which then need no new
  /// sessions; hosts that suspend databases wait five minutes themselves.
  package var idleTime = Duration.seconds(60)

  package init() {}

  package static let table: [Setting<Self>] = [
    Setting(.secret("DATABASE_URL"), \.connectionString, .connectionString, isRequired: true),
    Setting("DATABASE_POOL_MODE", \.poolMode, .choice),
    Setting("IDLE_MODE", \.idleMode, .choice),
    Setting("IDLE_SECONDS", \.idleTime, .wholeSeconds(in: 1...3600)),
  ]
}

package struct ProcessSettings: SettingsGroup {
  package var listenAddress = ListenAddress.tcp(host: "127.0.0.1", port: 8080)
  /// Where `/metrics` is served, and nothing else, over plain HTTP; nil serves it at ``listenAddress``.
  package var metricsAddress: ListenAddress?
  /// The devices that a user keeps, the last registered ones: at most as many as a claim takes of one user.
  package var devicesPerUserMax = 10
  /// Up to which number unread messages are counted. What a badge costs grows with it.
  package var badgeMax = 999
  /// Whether a user's other devices learn of what was read.
  package var isReadSyncEnabled = true
  /// Event-loop threads; nil for one for each core.
  package var reactors: Int?
  /// How long a stop waits for requests in flight, and then again for pushes in flight. Longer than APNs takes for a push, and
  /// twice as long is what process managers wait, 30 s or more.
  package var drainLimit = Duration.seconds(15)

  package init() {}

  package static let table: [Setting<Self>] = [
    Setting("LISTEN_ADDRESS", \.listenAddress, .listenAddress),
    Setting("METRICS_ADDRESS", \.metricsAddress, .listenAddress),
    Setting("DEVICES_PER_USER_MAX", \.devicesPerUserMax, .integer(in: 1...50)),
    Setting("BADGE_MAX", \.badgeMax, .integer(in: 1...10_000)),
    Setting("READ_SYNC_ENABLED", \.isReadSyncEnabled, .boolean),
    Setting("REACTORS", \.reactors, .integer(in: 1...256)),
    Setting("DRAIN_SECONDS", \.drainLimit, .wholeSeconds(in: 1...600)),
  ]
}

/// What the service lets its HTTP peers do. The server has the defaults.
extension HTTPServiceConfiguration: SettingsGroup {
  package static let table: [Setting<Self>] = [
    Setting("LISTEN_SOCKET_MODE", \.unixSocketMode, .fileMode),
    Setting("TRUSTED_PROXIES", \.proxies.peers, .trustedPeers),
    Setting("TRUSTED_PROXY_HEADER", \.proxies.field, .choice),
    Setting("CORS_ORIGINS", \.crossOrigins.origins, .webOrigins),
    Setting("HTTP_CONNECTIONS_MAX", \.connections.totalMax, .integer(in: 1...1_000_000)),
    Setting("HTTP_PEER_CONNECTIONS_MAX", \.connections.perPeerMax, .integer(in: 1...1_000_000)),
    Setting("HTTP_CONNECTION_REQUESTS_MAX", \.connections.requestsMax, .integer(in: 1...1_000_000_000)),
    Setting("HTTP_REQUEST_LINE_BYTES_MAX", \.limits.requestLineBytesMax, .integer(in: 128...65_536)),
    Setting("HTTP_HEADER_COUNT_MAX", \.limits.fieldCountMax, .integer(in: 8...10_000)),
    Setting("HTTP_HEADER_BYTES_MAX", \.limits.fieldBytesMax, .integer(in: 256...1_048_576)),
    Setting("HTTP_BODY_BYTES_MAX", \.limits.bodyBytesMax, .integer(in: 1024...67_108_864)),
    Setting("HTTP_BODY_BYTES_PER_SECOND_MIN", \.timeouts.bodyBytesPerSecondMin, .integer(in: 0...1_048_576)),
    Setting("HTTP_HEADER_SECONDS", \.timeouts.head, .seconds(in: 1...3600)),
    Setting("HTTP_BODY_SECONDS", \.timeouts.body, .seconds(in: 1...3600)),
    Setting("HTTP_IDLE_SECONDS", \.timeouts.idle, .seconds(in: 1...3600)),
    Setting("HTTP_WRITE_SECONDS", \.timeouts.write, .seconds(in: 1...3600)),
  ]
}

/// How database webhooks are received.
package struct WebhookSettings: SettingsGroup {
  /// Any of these proves a webhook; at least one.
  package var secrets: [WebhookSecret] = []
  /// How long an answer waits for the outcome. An outcome takes milliseconds unless APNs is slow, and then the database's
  /// caller should not be kept.
  package var wait = Duration.seconds(1)

  package init() {}

  package static let table: [Setting<Self>] = [
    Setting(.secret("WEBHOOK_SECRET"), \.secrets, .webhookSecrets, isRequired: true),
    Setting("WEBHOOK_WAIT_MILLISECONDS", \.wait, .milliseconds(in: 0...60_000)),
  ]
}

/// How apps and other servers prove who they are. Endpoints whose proof is not set up are off.
package struct CallerSettings: SettingsGroup {
  /// The bearer keys of other servers, any of which is enough; an empty list turns the service endpoints off. Several are
  /// valid while one replaces another.
  package var serviceKeys: [Secret<String>] = []
  /// The HS256 secret of clients' tokens.
  package var jwtSecret: Secret<String>?
  /// Where the key set for clients' tokens is, over `https` or `http`; secret, as it may hold a password.
  package var keySetURL: Secret<String>?
  /// The authorities trusted instead of the system's where the key set is.
  package var keySetCertificates: String?
  /// Whom clients' tokens are for: they have to name one of these.
  package var audiences = ["authenticated"]
  /// Who must have issued clients' tokens; nil accepts every issuer whose key is known.
  package var issuer: String?

  /// Whether clients can prove who they are; otherwise the client endpoints are off.
  package var acceptsClients: Bool { jwtSecret != nil || keySetURL != nil }

  package init() {}

  package static let table: [Setting<Self>] = [
    Setting(.secret("SERVICE_KEY"), \.serviceKeys, .bearerSecrets),
    Setting(.secret("JWT_SECRET"), \.jwtSecret, .signingSecret),
    Setting(.secret("JWKS_URL"), \.keySetURL, .keySetURL),
    Setting(certificates: "JWKS_CA_FILE", \.keySetCertificates),
    Setting("JWT_AUDIENCE", \.audiences, .audiences),
    Setting("JWT_ISSUER", \.issuer, .text),
  ]
}

/// When pushes are withheld, and how long finished work is kept.
struct PolicySettings: SettingsGroup {
  /// How long a sign of presence counts; zero switches holding off. An older report than an hour says nothing any more.
  var window = SuppressionPolicy().window
  /// How old a message may be when its push goes out. APNs itself keeps a push for 30 days at most.
  var timeToLive = SuppressionPolicy().timeToLive
  /// How long the messages of a burst share one sound; zero gives each its own. One thought takes some 20 s to write.
  var foldWindow = Duration.seconds(20)
  /// How many days finished work is kept.
  var retentionDays = 14
  /// What is decided and recorded, and not sent.
  var shadow = ShadowedKinds.none

  static let table: [Setting<Self>] = [
    Setting("SUPPRESSION_WINDOW_SECONDS", \.window, .seconds(in: 0...3_600)),
    Setting("MESSAGE_TTL_SECONDS", \.timeToLive, .seconds(in: 1...2_592_000)),
    Setting("FOLD_WINDOW_SECONDS", \.foldWindow, .seconds(in: 0...3_600)),
    Setting("RETENTION_DAYS", \.retentionDays, .integer(in: 1...3_650)),
    Setting("SHADOW", \.shadow, .shadowedKinds),
  ]
}

/// Pushes that no event asks for: whether, when, and which language model writes them.
package struct CampaignSettings: SettingsGroup {
  /// Whose interface the language model has.
  package enum Provider: String, CaseIterable, Sendable {
    /// Anthropic's Messages.
    case anthropic
    /// OpenAI's chat completions, which many others have too.
    case openai
  }

  /// The kill switch.
  package var isEnabled = false
  /// When campaigns look at each user, where they name no time; minutes after midnight.
  package var minutes = 600
  package var modelProvider = Provider.anthropic
  /// Where the language model is, over `https` or `http`, without the path of the call; nil for the provider's own address.
  /// Secret, as it may hold a password.
  package var modelURL: Secret<String>?
  /// The provider's key. Without it no model writes, and the other settings of the model have no effect.
  package var modelKey: Secret<String>?
  /// Which model writes; nil for the client's own choice, which only Anthropic has.
  package var modelName: String?
  /// The authorities trusted instead of the system's where the model is.
  package var modelCertificates: String?
  /// How long a call may take. A retry that the provider asks for has as much again.
  package var modelLimit = Duration.seconds(2)
  /// What a million tokens cost that the model reads, in dollars.
  package var modelInputPrice = 1.0
  /// The same of tokens that it writes.
  package var modelOutputPrice = 5.0
  /// Tokens that may be used on a day. A million is some 1,500 pushes.
  package var dailyTokensMax = 1_000_000
  /// Money that may be used on a day, in millionths of a dollar.
  package var dailyMicrodollarsMax = 5_000_000
  /// Slots that a process pushes in a second.
  package var slotPushesPerSecond = 2_000
  /// The value of the Authorization field with which content is fetched from campaigns' content URLs; nil for none.
  package var contentAuthorization: Secret<String>?
  /// Whether content URLs may lead to private, loopback and link-local addresses.
  package var allowsPrivateContent = false

  package init() {}

  package static let table: [Setting<Self>] = [
    Setting("PUSH_TRIGGER_ENABLED", \.isEnabled, .boolean),
    Setting("PUSH_TRIGGER_TIME", \.minutes, .timeOfDay),
    Setting("LANGUAGE_MODEL_PROVIDER", \.modelProvider, .choice),
    Setting(.secret("LANGUAGE_MODEL_URL"), \.modelURL, .modelURL),
    Setting(.secret("LANGUAGE_MODEL_KEY"), \.modelKey, .modelKey),
    Setting("LANGUAGE_MODEL_NAME", \.modelName, .text),
    Setting(certificates: "LANGUAGE_MODEL_CA_FILE", \.modelCertificates),
    Setting("LANGUAGE_MODEL_MILLISECONDS", \.modelLimit, .milliseconds(in: 100...60_000)),
    Setting("LANGUAGE_MODEL_INPUT_DOLLARS", \.modelInputPrice, .dollars(max: 10_000)),
    Setting("LANGUAGE_MODEL_OUTPUT_DOLLARS", \.modelOutputPrice, .dollars(max: 10_000)),
    Setting("LANGUAGE_MODEL_DAILY_TOKENS_MAX", \.dailyTokensMax, .integer(in: 0...1_000_000_000_000)),
    Setting("LANGUAGE_MODEL_DAILY_DOLLARS_MAX", \.dailyMicrodollarsMax, .microdollars(dollarsMax: 1_000_000)),
    Setting("SLOT_PUSHES_PER_SECOND", \.slotPushesPerSecond, .integer(in: 1...100_000)),
    Setting(.secret("CONTENT_AUTHORIZATION"), \.contentAuthorization, .fieldValue),
    Setting("CONTENT_PRIVATE_ADDRESSES", \.allowsPrivateContent, .boolean),
  ]
}

package struct LogSettings: SettingsGroup {
  /// The names of swift-log; each is less severe than the next.
  package enum Level: String, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical
  }

  package enum Format: String, CaseIterable, Sendable {
    /// A line for people.
    case text
    /// A JSON object a line, for machines.
    case json
  }

  package var level = Level.info
  package var format = Format.text

  package init() {}

  package static let table: [Setting<Self>] = [
    Setting("LOG_LEVEL", \.level, .choice), Setting("LOG_FORMAT", \.format, .choice),
  ]
}
