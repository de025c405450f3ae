import Postgres
import PushRules
import Testing

@testable import Settings

@Suite("The settings of the running service")
struct ServeSettingsTests {
  @Test("with the required keys alone, everything else has its documented default")
  func defaults() throws {
    let settings = try makeSettings()
    #expect(settings.database.connectionString.exposed == "postgresql://tacet:pa55word@db/app")
    #expect(settings.database.poolMode == .session)
    #expect(settings.database.idleMode == .poll && settings.database.idleTime == .seconds(60))
    #expect(settings.listenAddress == .tcp(host: "127.0.0.1", port: 8080) && settings.metricsAddress == nil)
    #expect(settings.webhooks.wait == .milliseconds(1_000))
    #expect(settings.callers == CallerSettings() && !settings.callers.acceptsClients)
    #expect(settings.callers.audiences == ["authenticated"])
    #expect(settings.suppression == SuppressionPolicy() && settings.shadow == .none)
    #expect(settings.folding == FoldPolicy(window: .seconds(20)))
    #expect(settings.retention == .seconds(14 * 86_400))
    #expect(settings.devicesPerUserMax == 10 && settings.badgeMax == 999)
    #expect(!settings.campaigns.isEnabled && settings.campaigns.minutes == 600 && settings.campaigns.modelKey == nil)
    #expect(settings.campaigns.modelLimit == .seconds(2))
    #expect(settings.campaigns.dailyTokensMax == 1_000_000 && settings.campaigns.dailyMicrodollarsMax == 5_000_000)
    #expect(settings.isReadSyncEnabled && settings.reactors == nil && settings.drainLimit == .seconds(15))
    #expect(settings.log == LogSettings())
  }

  @Test("every key takes effect")
  func everything() throws {
    let settings = try makeSettings([
      "DATABASE_POOL_MODE": "Transaction", "IDLE_MODE": "Webhook", "IDLE_SECONDS": "1",
      "LISTEN_ADDRESS": "[::]:9000", "METRICS_ADDRESS": "10.0.0.1:9090", "WEBHOOK_WAIT_MILLISECONDS": "250",
      "SERVICE_KEY": "service-key-of-the-tests next-key-of-the-service-",
      "JWT_SECRET": String(repeating: "j", count: 32), "JWKS_URL": "https://id.example/keys",
      "JWT_ISSUER": "https://id.example/auth/v1", "SUPPRESSION_WINDOW_SECONDS": "0.25", "MESSAGE_TTL_SECONDS": "60",
      "FOLD_WINDOW_SECONDS": "0", "READ_SYNC_ENABLED": "false", "REACTORS": "3", "RETENTION_DAYS": "30",
      "LOG_LEVEL": "DEBUG", "LOG_FORMAT": "json", "DRAIN_SECONDS": "600", "DEVICES_PER_USER_MAX": "50",
      "BADGE_MAX": "10000",
    ])
    #expect(settings.database.poolMode == .transaction)
    #expect(settings.database.idleMode == .webhook && settings.database.idleTime == .seconds(1))
    #expect(settings.listenAddress == .tcp(host: "::", port: 9000))
    #expect(settings.metricsAddress == .tcp(host: "10.0.0.1", port: 9090))
    #expect(settings.webhooks.wait == .milliseconds(250))
    #expect(settings.callers.serviceKeys == [Secret("service-key-of-the-tests"), Secret("next-key-of-the-service-")])
    #expect(settings.callers.jwtSecret?.exposed.count == 32 && settings.callers.acceptsClients)
    #expect(settings.callers.keySetURL?.exposed == "https://id.example/keys")
    #expect(settings.callers.issuer == "https://id.example/auth/v1")
    #expect(settings.suppression == SuppressionPolicy(window: .milliseconds(250), timeToLive: .seconds(60)))
    #expect(settings.folding == nil && settings.retention == .seconds(30 * 86_400))
    #expect(settings.devicesPerUserMax == 50 && settings.badgeMax == 10_000)
    #expect(!settings.isReadSyncEnabled && settings.reactors == 3 && settings.drainLimit == .seconds(600))
    #expect(settings.log.level == .debug && settings.log.format == .json)
  }

  @Test("every key of campaigns takes effect")
  func campaigns() throws {
    let settings = try makeSettings(
      [
        "PUSH_TRIGGER_ENABLED": "true", "PUSH_TRIGGER_TIME": "08:05", "LANGUAGE_MODEL_PROVIDER": "openai",
        "LANGUAGE_MODEL_URL": "http://127.0.0.1:9/v1", "LANGUAGE_MODEL_KEY": "sk-1", "LANGUAGE_MODEL_NAME": "small",
        "LANGUAGE_MODEL_MILLISECONDS": "2500", "LANGUAGE_MODEL_INPUT_DOLLARS": "0.25",
        "LANGUAGE_MODEL_OUTPUT_DOLLARS": "1.5", "LANGUAGE_MODEL_DAILY_TOKENS_MAX": "0",
        "LANGUAGE_MODEL_DAILY_DOLLARS_MAX": "0.5", "CONTENT_AUTHORIZATION": "Bearer t-1",
        "CONTENT_PRIVATE_ADDRESSES": "true", "SLOT_PUSHES_PER_SECOND": "500",
      ]
    ).campaigns
    var expected = CampaignSettings()
    (expected.isEnabled, expected.minutes, expected.modelProvider) = (true, 485, .openai)
    (expected.modelURL, expected.modelKey) = (Secret("http://127.0.0.1:9/v1"), Secret("sk-1"))
    (expected.modelName, expected.modelLimit) = ("small", .milliseconds(2_500))
    (expected.modelInputPrice, expected.modelOutputPrice) = (0.25, 1.5)
    (expected.dailyTokensMax, expected.dailyMicrodollarsMax) = (0, 500_000)
    expected.contentAuthorization = Secret("Bearer t-1")
    (expected.allowsPrivateContent, expected.slotPushesPerSecond) = (true, 500)
    #expect(settings == expected)
  }

  /// Values at the edges of what is usable, and beyond them.
  private static let edges: [(key: String, usable: [String], unusable: [String])] = [
    ("DATABASE_POOL_MODE", ["session"], ["statement"]), ("IDLE_MODE", ["poll"], ["never"]),
    ("IDLE_SECONDS", ["1", "3600"], ["0", "3601"]), ("LISTEN_ADDRESS", ["[::]:0"], ["8080"]),
    ("METRICS_ADDRESS", ["[::]:0"], ["9090"]), ("WEBHOOK_WAIT_MILLISECONDS", ["0", "60000"], ["-1", "60001"]),
    ("WEBHOOK_SECRET", [text(24), text(24) + " " + text(30)], ["short", text(23)]),
    ("SERVICE_KEY", [text(24)], [text(23), text(24) + " short", "one schlüssel of some length"]),
    ("JWT_SECRET", [text(32), text(33)], [text(31)]),
    (
      "JWKS_URL", ["http://auth:9999/.well-known/jwks.json"],
      ["keys.json", "file:///keys.json", "ftp://id.example", "https://", "https:///keys", "https://a b"]
    ),
    ("JWT_AUDIENCE", ["a", "a,b"], [",", "a,", "a,,b"]),
    ("SUPPRESSION_WINDOW_SECONDS", ["0", "60", "3600"], ["soon", "3601"]),
    ("MESSAGE_TTL_SECONDS", ["1", "2592000"], ["0", "2592001"]),
    ("FOLD_WINDOW_SECONDS", ["0.5", "3600"], ["-1", "3600.5", "soon"]),
    ("RETENTION_DAYS", ["1", "3650"], ["0", "3651", "1.5"]), ("DEVICES_PER_USER_MAX", ["1", "50"], ["0", "51"]),
    ("BADGE_MAX", ["1", "10000"], ["0", "10001"]), ("READ_SYNC_ENABLED", ["no"], ["2"]),
    ("REACTORS", ["1", "256"], ["0", "257"]), ("DRAIN_SECONDS", ["1", "600"], ["0", "601"]),
    ("LOG_LEVEL", LogSettings.Level.allCases.map(\.rawValue), ["loud"]), ("LOG_FORMAT", ["text", "JSON"], ["xml"]),
    ("APNS_ENVIRONMENT", ["sandbox"], ["development"]), ("APNS_URL", ["https://a:1"], ["http://127.0.0.1"]),
    ("APNS_SANDBOX_URL", ["https://[::1]"], ["127.0.0.1:2197"]), ("PUSH_TRIGGER_ENABLED", ["1"], ["maybe"]),
    ("PUSH_TRIGGER_TIME", ["00:00", "23:59"], ["24:00", "10:60", "9:30", "10", "10:00:00"]),
    ("LANGUAGE_MODEL_PROVIDER", ["anthropic"], ["abacus"]),
    ("LANGUAGE_MODEL_URL", ["https://host/v1"], ["ftp://host", "https://host?key=1"]),
    ("LANGUAGE_MODEL_KEY", ["sk-1"], ["two words"]),
    ("LANGUAGE_MODEL_MILLISECONDS", ["100", "60000"], ["99", "60001"]),
    ("LANGUAGE_MODEL_INPUT_DOLLARS", ["0"], ["-1", "1."]),
    ("LANGUAGE_MODEL_OUTPUT_DOLLARS", ["0.123456", "10000"], ["1.1234567", "10001"]),
    ("LANGUAGE_MODEL_DAILY_TOKENS_MAX", ["0"], ["-1"]), ("LANGUAGE_MODEL_DAILY_DOLLARS_MAX", ["0"], ["ten"]),
    ("CONTENT_AUTHORIZATION", ["Basic dTpw"], ["two  blanks", "Bearer tökén", "a\tb"]),
    ("CONTENT_PRIVATE_ADDRESSES", ["off"], ["1.0"]), ("SLOT_PUSHES_PER_SECOND", ["1", "100000"], ["0", "100001"]),
    ("HTTP_CONNECTIONS_MAX", ["1", "1000000"], ["0", "1000001"]),
    ("HTTP_PEER_CONNECTIONS_MAX", ["1", "1000000"], ["0", "1000001"]),
    ("HTTP_CONNECTION_REQUESTS_MAX", ["1", "1000000000"], ["0", "1000000001"]),
    ("HTTP_REQUEST_LINE_BYTES_MAX", ["128", "65536"], ["127", "65537"]),
    ("HTTP_HEADER_COUNT_MAX", ["8", "10000"], ["7", "10001"]),
    ("HTTP_HEADER_BYTES_MAX", ["256", "1048576"], ["255", "1048577"]),
    ("HTTP_BODY_BYTES_MAX", ["1024", "67108864"], ["1023", "67108865"]),
    ("HTTP_BODY_BYTES_PER_SECOND_MIN", ["0", "1048576"], ["-1", "1048577"]),
    ("HTTP_HEADER_SECONDS", ["1", "2.5", "3600"], ["0.999", "3600.001", "soon"]),
    ("HTTP_BODY_SECONDS", ["1", "3600"], ["0.999", "3600.001"]),
    ("HTTP_IDLE_SECONDS", ["1", "3600"], ["0.999", "3600.001"]),
    ("HTTP_WRITE_SECONDS", ["1", "3600"], ["0.999", "3600.001"]),
  ]

  private static func text(_ count: Int) -> String { String(repeating: "s", count: count) }

  @Test("values are taken at both ends, and refused beyond by their name with what is expected")
  func bounds() {
    for (key, usable, unusable) in Self.edges {
      for value in usable { #expect(problems([key: value]) == [], "\(key) \(value)") }
      for value in unusable {
        let found = problems([key: value])
        #expect(found.map(\.key) == [key] && found.map(\.code) == [.unusable], "\(key) \(value)")
        #expect(found.allSatisfy { $0.message.contains("expected") })
      }
    }
  }

  @Test("audiences are separated by commas")
  func audiences() throws {
    #expect(try makeSettings(["JWT_AUDIENCE": " a , b c "]).callers.audiences == ["a", "b c"])
  }

  @Test("the key set's authorities must be there and hold a certificate")
  func authorities() throws {
    let changes = ["JWKS_CA_FILE": "/ca.pem"]
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    #expect(try makeSettings(changes, files: ["/ca.pem": pem]).callers.keySetCertificates == pem)
    #expect(problems(changes).map(\.code) == [.unreadable])
    #expect(problems(changes, files: ["/ca.pem": "der"]).map(\.code) == [.unusable])
  }

  @Test(
    "for the database, a URI or a keyword string is passed on as it is",
    arguments: [
      "postgresql://u:p@a,b:5433/db?target_session_attrs=read-write", "postgres://localhost", "host=/run user=tacet",
      "service=tacet",
    ])
  func database(text: String) throws {
    #expect(try makeSettings(["DATABASE_URL": text]).database.connectionString.exposed == text)
  }

  @Test(
    "anything else is refused, and not repeated",
    arguments: [
      "localhost", "mysql://h/db?a=b", "http://h", "postgresql://u:hunter2@h/d?pgbouncer=true",
      "postgresql://u:hunter2@h/d?sslmode=no-verify", "postgresql://u:p@hunter2@h/d", "postgresql://u:hunter2/x@h/d",
    ])
  func noDatabase(text: String) {
    let found = problems(["DATABASE_URL": text])
    #expect(found.map(\.code) == [.unusable] && found.allSatisfy { !$0.description.contains("hunter2") })
  }

  @Test(
    "a required key that is missing, or set to nothing, is named",
    arguments: ["DATABASE_URL", "WEBHOOK_SECRET", "APNS_KEY_ID", "APNS_TEAM_ID", "APNS_BUNDLE_ID", "APNS_PRIVATE_KEY"],
    [nil, "", "  "])
  func required(key: String, value: String?) {
    let found = problems([key: value])
    #expect(found.map(\.key) == [key])
    #expect(found.map(\.code) == [.missing])
  }

  @Test("everything that is wrong is said at once, and nothing secret with it")
  func allAtOnce() {
    let found = problems([
      "DATABASE_URL": "hunter2", "WEBHOOK_SECRET": "hunter2 hünter2", "SERVICE_KEY": "hünter2", "JWT_SECRET": "hunter2",
      "JWKS_URL": "hunter2", "APNS_PRIVATE_KEY": "hunter2", "APNS_URL": "https://me:hunter2@h", "REACTORS": "many",
      "APNS_KEYID": "hunter2", "TACET_CONFIG": "/gone",
    ])
    #expect(
      Set(found.map(\.key)) == [
        "DATABASE_URL", "WEBHOOK_SECRET", "SERVICE_KEY", "JWT_SECRET", "JWKS_URL", "APNS_PRIVATE_KEY", "APNS_URL",
        "REACTORS", "APNS_KEYID", "TACET_CONFIG",
      ])
    let text = SettingsError(problems: found).description
    #expect(text.split(separator: "\n").count == found.count)
    #expect(!text.contains("nter2"))
    #expect(
      text.contains(#"REACTORS is not usable ("many"): not a whole number; expected a whole number from 1 to 256"#))
  }

  @Test("settings that are printed or dumped show no secret")
  func printing() throws {
    let settings = try makeSettings([
      "SERVICE_KEY": "service-key-of-the-tests", "JWT_SECRET": String(repeating: "j", count: 40),
    ])
    var dumped = ""
    dump(settings, to: &dumped)
    for text in ["\(settings)", String(reflecting: settings), dumped] {
      for secret in ["pa55word", "hook-secret", "service-key", "jjjj", "BEGIN PRIVATE KEY"] {
        #expect(!text.contains(secret))
      }
    }
  }
}

@Suite("Retention settings")
struct RetentionSettingsTests {
  @Test("whole days from one to ten years", arguments: [("1", 1), ("14", 14), ("3650", 3650)])
  func days(text: String, days: Int) throws {
    let settings = try makeSettings(["RETENTION_DAYS": text, "MESSAGE_TTL_SECONDS": "1"])
    #expect(settings.retention == max(.seconds(86_400) * days, .seconds(86_401)))
  }

  @Test(
    "what a message that comes again could still be pushed by is kept a day longer than it could",
    arguments: [("86400", 2 * 86_400), ("86401", 2 * 86_400 + 1), ("86399", 2 * 86_400)])
  func timeToLive(text: String, seconds: Int) throws {
    let settings = try makeSettings(["RETENTION_DAYS": "2", "MESSAGE_TTL_SECONDS": text])
    #expect(settings.retention == .seconds(seconds))
  }
}

@Suite("Shadow settings")
struct ShadowSettingsTests {
  @Test(
    "a switch, or kinds",
    arguments: [
      ("false", .none), ("off", .none), ("true", .all), ("YES", .all), ("1", .all), ("message", .only(["message"])),
      (" coach , message ", .only(["coach", "message"])), ("tree_planted", .only(["tree_planted"])),
    ] as [(String, ShadowedKinds)])
  func known(text: String, shadow: ShadowedKinds) throws {
    #expect(try makeSettings(["SHADOW": text]).shadow == shadow)
  }

  @Test(
    "a mistyped switch is no kind, and a list has kinds alone",
    arguments: ["ture", "tru", "True!", "flase", "fals", "Message", "message,", ",", "a-b", "message coach", "*"])
  func unusable(text: String) {
    #expect(throws: SettingsError.self) { try makeSettings(["SHADOW": text]) }
  }
}

@Suite("The settings of commands that only need the database")
struct CommandSettingsTests {
  private func problems(_ environment: [String: String], needsSession: Bool) -> [SettingsProblem] {
    do {
      _ = try CommandSettings(environment: environment, needsSession: needsSession, readFile: makeFiles([:]))
      return []
    } catch {
      return error.problems
    }
  }

  @Test("the database is enough", arguments: [true, false])
  func databaseAlone(needsSession: Bool) {
    #expect(problems(["DATABASE_URL": "postgres://h"], needsSession: needsSession).isEmpty)
    #expect(problems([:], needsSession: needsSession).map(\.description) == ["DATABASE_URL is required and not set"])
  }

  @Test("for a migration sessions lent by a pooler are not enough, and it says what is")
  func pooler() {
    func found(_ mode: String) -> [SettingsProblem] {
      problems(["DATABASE_URL": "postgres://h", "DATABASE_POOL_MODE": mode], needsSession: true)
    }
    #expect(found("transaction").map(\.key) == ["DATABASE_POOL_MODE"])
    #expect(found("transaction").map(\.code) == [.conflicting])
    #expect(found("transaction").first?.message.contains("DATABASE_URL to the server itself") == true)
    #expect(found("session").isEmpty)
    let environment = ["DATABASE_URL": "postgres://h", "DATABASE_POOL_MODE": "transaction"]
    #expect(problems(environment, needsSession: false).isEmpty)
  }

  @Test("values it does not use are not looked at, unknown keys are", arguments: [true, false])
  func others(needsSession: Bool) {
    let usable = ["DATABASE_URL": "postgres://h", "REACTORS": "none", "APNS_KEY_ID": "x"]
    #expect(problems(usable, needsSession: needsSession).isEmpty)
    let unknown = ["DATABASE_URL": "postgres://h", "APNS_KEY": "x"]
    #expect(problems(unknown, needsSession: needsSession).map(\.code) == [.unknown])
  }
}

@Suite("Settings that are looked at part by part")
struct ExaminedSettingsTests {
  @Test("what is usable is there though other parts are not")
  func parts() {
    let settings = ExaminedSettings(environment: ["DATABASE_URL": "host=/tmp", "JWT_SECRET": "short"])
    #expect(settings.database != nil)
    #expect(settings.apns == nil)
    #expect(settings.callers == nil)
    #expect(settings.problems.contains { $0.key == "WEBHOOK_SECRET" })
    #expect(settings.problems.contains { $0.key == "JWT_SECRET" })
  }

  @Test("names the variables of proxies, which nothing uses")
  func proxies() {
    let environment = [
      "HTTPS_PROXY": "http://proxy:3128", "all_proxy": "socks5://proxy", "https_proxy": "", "NO_PROXY": "x",
    ]
    #expect(ExaminedSettings(environment: environment).unusedProxies == ["HTTPS_PROXY", "all_proxy"])
    #expect(ExaminedSettings(environment: [:]).unusedProxies == [])
  }

  @Test("names the files with secrets, each once, those of sections too")
  func files() {
    let file = """
      APNS_PRIVATE_KEY_FILE=/a.p8
      TLS_KEY_FILE=/tls.pem
      [app com.example.one]
      APNS_PRIVATE_KEY_FILE=/b.p8
      [app com.example.two]
      APNS_PRIVATE_KEY_FILE=/a.p8
      """
    let settings = ExaminedSettings(environment: ["TACET_CONFIG": "/tacet.conf"]) { _ in Array(file.utf8) }
    #expect(settings.secretFiles.map(\.path) == ["/tacet.conf", "/a.p8", "/tls.pem", "/b.p8"])
    #expect(ExaminedSettings(environment: [:]).secretFiles == [])
  }
}
