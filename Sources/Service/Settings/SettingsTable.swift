package import PushRules

// Every setting is here once: its name, how it is read, and what applies without it. A new one takes a row, its use, a line in
// the page of settings, and a test.

package struct DatabaseSettings: Sendable {
  /// Whose the database's sessions are.
  package enum PoolMode: String, CaseIterable, Sendable {
    /// The service's, for as long as it is connected.
    case session
    /// Lent by a pooler for one transaction at a time.
    case transaction
  }

  /// How messages are found while nothing else happens.
  package enum IdleMode: String, CaseIterable, Sendable {
    /// By notifications and polls.
    case poll
    /// By webhooks: the database may sleep.
    case webhook
  }

  /// What libpq takes: a `postgresql://` URI or a `keyword=value` string, several hosts allowed. Secret, as it may hold
  /// the password.
  package let connectionString = Setting(required: "DATABASE_URL", .connectionString, .secret)
  package let poolMode = Setting("DATABASE_POOL_MODE", default: PoolMode.session, .choice)
  package let idleMode = Setting("IDLE_MODE", default: IdleMode.poll, .choice)
  /// After how long without work that begins. A minute of a conversation has more messages in it, which then need no new
  /// sessions; hosts that suspend databases wait five minutes themselves.
  package let idleTime = Setting("IDLE_SECONDS", default: .seconds(60), .wholeSeconds(in: 1...3600))
}

package struct ProcessSettings: Sendable {
  package let listenAddress = Setting(
    "LISTEN_ADDRESS", default: ListenAddress.tcp(host: "127.0.0.1", port: 8080), .listenAddress)
  /// Where `/metrics` is served, and nothing else, over plain HTTP; nil serves it at ``listenAddress``.
  package let metricsAddress = Setting("METRICS_ADDRESS", .listenAddress)
  /// The devices that a user keeps, the last registered ones: at most as many as a claim takes of one user.
  package let devicesPerUserMax = Setting("DEVICES_PER_USER_MAX", default: 10, .integer(in: 1...50))
  /// Up to which number unread messages are counted. What a badge costs grows with it.
  package let badgeMax = Setting("BADGE_MAX", default: 999, .integer(in: 1...10_000))
  /// Whether a user's other devices learn of what was read.
  package let isReadSyncEnabled = Setting("READ_SYNC_ENABLED", default: true, .boolean)
  /// Event-loop threads; nil for one for each core.
  package let reactors = Setting("REACTORS", .integer(in: 1...256))
  /// How long a stop waits for requests in flight, and then again for pushes in flight. Longer than APNs takes for a push, and
  /// twice as long is what process managers wait, 30 s or more.
  package let drainLimit = Setting("DRAIN_SECONDS", default: .seconds(15), .wholeSeconds(in: 1...600))
}

/// What the service lets its HTTP peers do. Where a value is nil, the server's own default applies.
package struct HTTPSettings: Sendable {
  /// Where a proxy says whom a request comes from.
  package enum ProxyHeader: String, CaseIterable, Sendable {
    case xForwardedFor = "x-forwarded-for"
    /// `Forwarded` (RFC 7239)
    case forwarded
  }

  package let socketMode = Setting("LISTEN_SOCKET_MODE", .fileMode)
  /// The proxies trusted to set the client address.
  package let proxies = Setting("TRUSTED_PROXIES", default: TrustedPeers(), .trustedPeers)
  /// The field that they append to.
  package let proxyHeader = Setting("TRUSTED_PROXY_HEADER", default: ProxyHeader.xForwardedFor, .choice)
  package let crossOrigins = Setting("CORS_ORIGINS", default: [], .webOrigins)
  package let connectionsMax = Setting("HTTP_CONNECTIONS_MAX", .integer(in: 1...1_000_000))
  package let peerConnectionsMax = Setting("HTTP_PEER_CONNECTIONS_MAX", .integer(in: 1...1_000_000))
  package let connectionRequestsMax = Setting("HTTP_CONNECTION_REQUESTS_MAX", .integer(in: 1...1_000_000_000))
  package let requestLineBytesMax = Setting("HTTP_REQUEST_LINE_BYTES_MAX", .integer(in: 128...65_536))
  package let headerCountMax = Setting("HTTP_HEADER_COUNT_MAX", .integer(in: 8...10_000))
  /// Bytes of all field lines of a head.
  package let headerBytesMax = Setting("HTTP_HEADER_BYTES_MAX", .integer(in: 256...1_048_576))
  package let bodyBytesMax = Setting("HTTP_BODY_BYTES_MAX", .integer(in: 1024...67_108_864))
  /// The least bytes of content for each second; 0 for any.
  package let bodyBytesPerSecondMin = Setting("HTTP_BODY_BYTES_PER_SECOND_MIN", .integer(in: 0...1_048_576))
  package let headerTime = Setting("HTTP_HEADER_SECONDS", .seconds(in: 1...3600))
  package let bodyTime = Setting("HTTP_BODY_SECONDS", .seconds(in: 1...3600))
  /// Between two requests.
  package let idleTime = Setting("HTTP_IDLE_SECONDS", .seconds(in: 1...3600))
  /// For a peer to accept an answer.
  package let writeTime = Setting("HTTP_WRITE_SECONDS", .seconds(in: 1...3600))
}

/// What the HTTP service proves itself with. The files are read together, by ``TLSSettings``.
struct TLSTable: Sendable {
  let certificateFile = Setting("TLS_CERTIFICATE_FILE", .text)
  let keyFile = Setting("TLS_KEY_FILE", .text, .secret)
}

/// How database webhooks are received.
package struct WebhookSettings: Sendable {
  /// Any of these proves a webhook; at least one.
  package let secrets = Setting(required: "WEBHOOK_SECRET", .webhookSecrets, .secret)
  /// How long an answer waits for the outcome. An outcome takes milliseconds unless APNs is slow, and then the database's
  /// caller should not be kept.
  package let wait = Setting("WEBHOOK_WAIT_MILLISECONDS", default: .seconds(1), .milliseconds(in: 0...60_000))
}

/// How apps and other servers prove who they are. Endpoints whose proof is not set up are off.
package struct CallerSettings: Sendable {
  /// The bearer keys of other servers, any of which is enough; an empty list turns the service endpoints off. Several are
  /// valid while one replaces another.
  package let serviceKeys = Setting("SERVICE_KEY", default: [], .bearerSecrets, .secret)
  /// The HS256 secret of clients' tokens.
  package let jwtSecret = Setting("JWT_SECRET", .signingSecret, .secret)
  /// Where the key set for clients' tokens is, over `https` or `http`; secret, as it may hold a password.
  package let keySetURL = Setting("JWKS_URL", .keySetURL, .secret)
  /// The authorities trusted instead of the system's where the key set is.
  package let keySetCertificates = Setting(certificates: "JWKS_CA_FILE")
  /// Whom clients' tokens are for: they have to name one of these.
  package let audiences = Setting("JWT_AUDIENCE", default: ["authenticated"], .audiences)
  /// Who must have issued clients' tokens; nil accepts every issuer whose key is known.
  package let issuer = Setting("JWT_ISSUER", .text)
}

struct APNSTable: Sendable {
  let production = Setting(
    "APNS_URL", default: ServiceOrigin(host: APNSEnvironment.production.hostName), .origin, .secret)
  let sandbox = Setting(
    "APNS_SANDBOX_URL", default: ServiceOrigin(host: APNSEnvironment.sandbox.hostName), .origin, .secret)
  /// Certificates trusted besides the system's.
  let certificates = Setting(certificates: "APNS_CA_FILE")
}

/// The app of device tokens that do not name theirs.
struct DefaultAppTable: Sendable {
  let bundleID = Setting(required: "APNS_BUNDLE_ID", .bundleIdentifier)
}

/// What an app can have for itself, in a section of the settings file.
struct AppTable: Sendable {
  let keyID = Setting(required: "APNS_KEY_ID", .appleIdentifier)
  let teamID = Setting(required: "APNS_TEAM_ID", .appleIdentifier)
  /// One of these two.
  let privateKey = Setting("APNS_PRIVATE_KEY", .privateKey, .secret)
  let privateKeyFile = Setting("APNS_PRIVATE_KEY_FILE", .text, .secret)
  /// The push service of the app's device tokens that do not name theirs.
  let environment = Setting("APNS_ENVIRONMENT", default: APNSEnvironment.production, .choice)
  /// How much of an event's words pushes to the app bring. An app can only be stricter than the service.
  let content = Setting("CONTENT", default: ContentChoice.full, .choice)
}

/// When pushes are withheld, and how long finished work is kept.
package struct PolicySettings: Sendable {
  /// How long a sign of presence counts; zero switches holding off. An older report than an hour says nothing any more.
  package let window = Setting(
    "SUPPRESSION_WINDOW_SECONDS", default: SuppressionPolicy().window, .seconds(in: 0...3_600))
  /// How old a message may be when its push goes out. APNs itself keeps a push for 30 days at most.
  package let timeToLive = Setting(
    "MESSAGE_TTL_SECONDS", default: SuppressionPolicy().timeToLive, .seconds(in: 1...2_592_000))
  /// How long the messages of a burst share one sound; zero gives each its own. One thought takes some 20 s to write.
  package let foldWindow = Setting("FOLD_WINDOW_SECONDS", default: .seconds(20), .seconds(in: 0...3_600))
  /// How many days finished work is kept.
  package let retentionDays = Setting("RETENTION_DAYS", default: 14, .integer(in: 1...3_650))
  /// What is decided and recorded, and not sent.
  package let shadow = Setting("SHADOW", default: ShadowedKinds.none, .shadowedKinds)
}

/// Pushes that no event asks for: whether, when, and which language model writes them.
package struct CampaignSettings: Sendable {
  /// Whose interface the language model has.
  package enum Provider: String, CaseIterable, Sendable {
    /// Anthropic's Messages.
    case anthropic
    /// OpenAI's chat completions, which many others have too.
    case openai
  }

  /// The kill switch.
  package let isEnabled = Setting("PUSH_TRIGGER_ENABLED", default: false, .boolean)
  /// When campaigns look at each user, where they name no time; minutes after midnight.
  package let minutes = Setting("PUSH_TRIGGER_TIME", default: 600, .timeOfDay)
  package let modelProvider = Setting("LANGUAGE_MODEL_PROVIDER", default: Provider.anthropic, .choice)
  /// Where the language model is, over `https` or `http`, without the path of the call; nil for the provider's own address.
  /// Secret, as it may hold a password.
  package let modelURL = Setting("LANGUAGE_MODEL_URL", .modelURL, .secret)
  /// The provider's key. Without it no model writes, and the other settings of the model have no effect.
  package let modelKey = Setting("LANGUAGE_MODEL_KEY", .modelKey, .secret)
  /// Which model writes; nil for the client's own choice, which only Anthropic has.
  package let modelName = Setting("LANGUAGE_MODEL_NAME", .text)
  /// The authorities trusted instead of the system's where the model is.
  package let modelCertificates = Setting(certificates: "LANGUAGE_MODEL_CA_FILE")
  /// How long a call may take. A retry that the provider asks for has as much again.
  package let modelLimit = Setting(
    "LANGUAGE_MODEL_MILLISECONDS", default: .seconds(2), .milliseconds(in: 100...60_000))
  /// What a million tokens cost that the model reads, in dollars.
  package let modelInputPrice = Setting("LANGUAGE_MODEL_INPUT_DOLLARS", default: 1, .dollars(max: 10_000))
  /// The same of tokens that it writes.
  package let modelOutputPrice = Setting("LANGUAGE_MODEL_OUTPUT_DOLLARS", default: 5, .dollars(max: 10_000))
  /// Tokens that may be used on a day. A million is some 1,500 pushes.
  package let dailyTokensMax = Setting(
    "LANGUAGE_MODEL_DAILY_TOKENS_MAX", default: 1_000_000, .integer(in: 0...1_000_000_000_000))
  /// Money that may be used on a day, in millionths of a dollar.
  package let dailyMicrodollarsMax = Setting(
    "LANGUAGE_MODEL_DAILY_DOLLARS_MAX", default: 5_000_000, .microdollars(dollarsMax: 1_000_000))
  /// Slots that a process pushes in a second.
  package let slotPushesPerSecond = Setting("SLOT_PUSHES_PER_SECOND", default: 2_000, .integer(in: 1...100_000))
  /// The value of the Authorization field with which content is fetched from campaigns' content URLs; nil for none.
  package let contentAuthorization = Setting("CONTENT_AUTHORIZATION", .fieldValue, .secret)
  /// Whether content URLs may lead to private, loopback and link-local addresses.
  package let allowsPrivateContent = Setting("CONTENT_PRIVATE_ADDRESSES", default: false, .boolean)
}

/// The settings file; in the environment only.
struct FileTable: Sendable {
  let path = Setting("TACET_CONFIG", .text)
}

package struct LogSettings: Sendable {
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

  package let level = Setting("LOG_LEVEL", default: Level.info, .choice)
  package let format = Setting("LOG_FORMAT", default: Format.text, .choice)
}
