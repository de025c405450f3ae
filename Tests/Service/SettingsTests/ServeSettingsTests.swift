import PushRules
import Testing

@testable import Settings

@Suite("The settings of the running service")
struct ServeSettingsTests {
  @Test("with the required keys alone, everything else has its documented default")
  func defaults() throws {
    let settings = try makeSettings()
    #expect(settings.database.connectionString.exposed == "postgresql://tacet:pa55word@db/app")
    #expect(settings.listenAddress == .tcp(host: "127.0.0.1", port: 8080))
    #expect(settings.webhooks.wait == .milliseconds(1_000))
    #expect(settings.callers.serviceKeys == [])
    #expect(!settings.callers.acceptsClients)
    #expect(settings.suppression == SuppressionPolicy())
    #expect(settings.retention == .seconds(14 * 86_400))
    #expect(settings.devicesPerUserMax == 10)
    #expect(settings.badgeMax == 999)
    #expect(!settings.campaigns.isEnabled)
    #expect(settings.campaigns.minutes == 600)
    #expect(settings.campaigns.modelKey == nil)
    #expect(settings.campaigns.dailyTokensMax == 1_000_000)
    #expect(settings.campaigns.dailyMicrodollarsMax == 5_000_000)
    #expect(settings.isReadSyncEnabled)
    #expect(settings.reactors == nil)
    #expect(settings.drainLimit == .seconds(15))
    #expect(settings.log.level == .info)
    #expect(settings.log.format == .text)
  }

  @Test("every key takes effect")
  func everything() throws {
    let settings = try makeSettings([
      "LISTEN_ADDRESS": "[::]:9000", "METRICS_ADDRESS": "10.0.0.1:9090", "WEBHOOK_WAIT_MILLISECONDS": "250",
      "SERVICE_KEY": "service-key-of-the-tests next-key-of-the-service-",
      "JWT_SECRET": String(repeating: "j", count: 32), "JWKS_URL": "https://id.example/keys",
      "SUPPRESSION_WINDOW_SECONDS": "30", "MESSAGE_TTL_SECONDS": "60", "PUSH_TRIGGER_ENABLED": "true",
      "READ_SYNC_ENABLED": "false", "REACTORS": "3",
      "RETENTION_DAYS": "30", "LOG_LEVEL": "DEBUG", "LOG_FORMAT": "json",
      "DRAIN_SECONDS": "600", "DEVICES_PER_USER_MAX": "50", "BADGE_MAX": "10000",
    ])
    #expect(settings.listenAddress == .tcp(host: "::", port: 9000))
    #expect(settings.metricsAddress == .tcp(host: "10.0.0.1", port: 9090))
    #expect(settings.webhooks.wait == .milliseconds(250))
    #expect(settings.callers.serviceKeys == [Secret("service-key-of-the-tests"), Secret("next-key-of-the-service-")])
    #expect(settings.callers.acceptsClients)
    #expect(settings.suppression == SuppressionPolicy(window: .seconds(30), timeToLive: .seconds(60)))
    #expect(settings.retention == .seconds(30 * 86_400))
    #expect(settings.devicesPerUserMax == 50)
    #expect(settings.badgeMax == 10_000)
    #expect(settings.campaigns.isEnabled)
    #expect(!settings.isReadSyncEnabled)
    #expect(settings.reactors == 3)
    #expect(settings.drainLimit == .seconds(600))
    #expect(settings.log.level == .debug)
    #expect(settings.log.format == .json)
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

  @Test(
    "an unusable value is named with what is expected",
    arguments: [
      ("DATABASE_POOL_MODE", "statement"), ("LISTEN_ADDRESS", "8080"), ("WEBHOOK_WAIT_MILLISECONDS", "-1"),
      ("WEBHOOK_WAIT_MILLISECONDS", "60001"),
      ("SERVICE_KEY", "one schlüssel of some length"), ("METRICS_ADDRESS", "9090"),
      ("WEBHOOK_SECRET", "short"), ("WEBHOOK_SECRET", String(repeating: "s", count: 23)),
      ("SERVICE_KEY", String(repeating: "s", count: 23)), ("SERVICE_KEY", String(repeating: "s", count: 24) + " short"),
      ("JWT_SECRET", "short"), ("JWKS_URL", "ftp://id.example"),
      ("APNS_ENVIRONMENT", "development"), ("APNS_URL", "http://127.0.0.1"), ("APNS_SANDBOX_URL", "127.0.0.1:2197"),
      ("SUPPRESSION_WINDOW_SECONDS", "soon"), ("SUPPRESSION_WINDOW_SECONDS", "3601"), ("MESSAGE_TTL_SECONDS", "0"),
      ("RETENTION_DAYS", "0"), ("RETENTION_DAYS", "3651"), ("RETENTION_DAYS", "1.5"),
      ("DEVICES_PER_USER_MAX", "0"), ("DEVICES_PER_USER_MAX", "51"), ("BADGE_MAX", "0"), ("BADGE_MAX", "10001"),
      ("PUSH_TRIGGER_ENABLED", "maybe"),
      ("READ_SYNC_ENABLED", "2"), ("REACTORS", "0"), ("REACTORS", "257"), ("DRAIN_SECONDS", "0"),
      ("DRAIN_SECONDS", "601"), ("LOG_LEVEL", "loud"),
      ("LOG_FORMAT", "xml"),
    ])
  func unusable(key: String, value: String) {
    let found = problems([key: value])
    #expect(found.map(\.key) == [key])
    #expect(found.map(\.code) == [.unusable])
    #expect(found.allSatisfy { $0.message.contains("expected") })
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

@Suite("Suppression settings")
struct SuppressionSettingsTests {
  @Test(
    "the window takes both ends and a fraction",
    arguments: [("0", 0), ("0.25", 250), ("60", 60_000), ("3600", 3_600_000)])
  func window(text: String, milliseconds: Int) throws {
    let policy = try makeSettings(["SUPPRESSION_WINDOW_SECONDS": text]).suppression
    #expect(policy.window == .milliseconds(milliseconds))
    #expect(policy.timeToLive == .seconds(3600))
  }

  @Test("the time to live takes both ends", arguments: [("1", 1), ("2592000", 2_592_000)])
  func timeToLive(text: String, seconds: Int) throws {
    let policy = try makeSettings(["MESSAGE_TTL_SECONDS": text]).suppression
    #expect(policy.timeToLive == .seconds(seconds))
    #expect(policy.window == .seconds(60))
  }
}

@Suite("Folding settings")
struct FoldingSettingsTests {
  @Test(
    "the window takes both ends, is 20 s unless said otherwise, and zero switches folding off",
    arguments: [(nil, 20_000), ("0", nil), ("0.5", 500), ("3600", 3_600_000)] as [(String?, Int?)])
  func window(text: String?, milliseconds: Int?) throws {
    let folding = try makeSettings(text.map { ["FOLD_WINDOW_SECONDS": $0] } ?? [:]).folding
    #expect(folding == milliseconds.map { FoldPolicy(window: .milliseconds($0)) })
  }

  @Test("the window has bounds", arguments: ["-1", "3600.5", "soon"])
  func refused(text: String) {
    #expect(throws: SettingsError.self) { try makeSettings(["FOLD_WINDOW_SECONDS": text]) }
  }
}

@Suite("Retention settings")
struct RetentionSettingsTests {
  @Test("whole days from one to ten years", arguments: [("1", 1), ("14", 14), ("3650", 3650)])
  func days(text: String, days: Int) throws {
    let settings = try makeSettings(["RETENTION_DAYS": text, "MESSAGE_TTL_SECONDS": "1"])
    #expect(settings.retention == max(.seconds(86_400) * days, .seconds(86_401)))
  }

  @Test("two weeks unless set")
  func unset() throws {
    #expect(try makeSettings().retention == .seconds(14 * 86_400))
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

  @Test("off unless set")
  func unset() throws { #expect(try makeSettings().shadow == .none) }

  @Test(
    "a mistyped switch is no kind, and a list has kinds alone",
    arguments: ["ture", "tru", "True!", "flase", "fals", "Message", "message,", ",", "a-b", "message coach", "*"])
  func unusable(text: String) {
    #expect(throws: SettingsError.self) { try makeSettings(["SHADOW": text]) }
  }

  @Test("a misspelt name is refused")
  func misspelt() {
    #expect(throws: SettingsError.self) { try makeSettings(["SHADOWS": "true"]) }
  }
}

@Suite("Database settings")
struct DatabaseSettingsTests {
  @Test(
    "a URI or a keyword string is passed on as it is",
    arguments: [
      "postgresql://u:p@a,b:5433/db?target_session_attrs=read-write", "postgres://localhost", "host=/run user=tacet",
      "service=tacet",
    ])
  func usable(text: String) throws {
    #expect(try makeSettings(["DATABASE_URL": text]).database.connectionString.exposed == text)
  }

  @Test(
    "sessions are ours unless a pooler is said to lend them",
    arguments: [(nil, "session"), ("Transaction", "transaction")])
  func poolMode(text: String?, mode: String) throws {
    #expect(try makeSettings(["DATABASE_POOL_MODE": text]).database.poolMode.rawValue == mode)
  }

  @Test("the service polls unless the database may sleep, after a minute by default")
  func idle() throws {
    let standard = try makeSettings([:]).database
    #expect(standard.idleMode == .poll && standard.idleTime == .seconds(60))
    let settings = try makeSettings(["IDLE_MODE": "Webhook", "IDLE_SECONDS": "1"]).database
    #expect(settings.idleMode == .webhook && settings.idleTime == .seconds(1))
    #expect(try makeSettings(["IDLE_SECONDS": "3600"]).database.idleTime == .seconds(3600))
    for bad in [["IDLE_MODE": "never"], ["IDLE_SECONDS": "0"], ["IDLE_SECONDS": "3601"]] {
      #expect(problems(bad).map(\.code) == [.unusable])
    }
  }

  @Test(
    "anything else is refused, and not repeated",
    arguments: [
      "localhost", "mysql://h/db?a=b", "http://h", "postgresql://u:hunter2@h/d?pgbouncer=true",
      "postgresql://u:hunter2@h/d?sslmode=no-verify", "postgresql://u:p@hunter2@h/d", "postgresql://u:hunter2/x@h/d",
    ])
  func unusable(text: String) {
    let found = problems(["DATABASE_URL": text])
    #expect(found.map(\.code) == [.unusable])
    #expect(found.allSatisfy { !$0.description.contains("hunter2") })
  }
}

@Suite("Log settings")
struct LogSettingsTests {
  @Test("every level and every format has its name", arguments: LogSettings.Level.allCases, LogSettings.Format.allCases)
  func names(level: LogSettings.Level, format: LogSettings.Format) throws {
    let log = try makeSettings(["LOG_LEVEL": level.rawValue, "LOG_FORMAT": format.rawValue]).log
    #expect(log.level == level)
    #expect(log.format == format)
  }
}

@Suite("Caller settings")
struct CallerSettingsTests {
  @Test(
    "a secret or a key set lets clients in, alone or together", arguments: [(true, false), (false, true), (true, true)])
  func clients(hasSecret: Bool, hasKeySet: Bool) throws {
    let callers = try makeSettings([
      "JWT_SECRET": hasSecret ? String(repeating: "s", count: 32) : nil,
      "JWKS_URL": hasKeySet ? "http://auth:9999/.well-known/jwks.json" : nil,
    ]).callers
    #expect(callers.acceptsClients)
    #expect((callers.jwtSecret != nil) == hasSecret)
    #expect((callers.keySetURL != nil) == hasKeySet)
  }

  @Test("a signing secret has at least the 32 bytes of its hash", arguments: [(31, false), (32, true), (33, true)])
  func secretLength(bytes: Int, isUsable: Bool) {
    #expect(problems(["JWT_SECRET": String(repeating: "s", count: bytes)]).isEmpty == isUsable)
  }

  @Test(
    "a key set has a web address",
    arguments: ["keys.json", "file:///keys.json", "https://", "https:///keys", "https://a b"])
  func keySet(text: String) {
    #expect(problems(["JWKS_URL": text]).map(\.code) == [.unusable])
  }

  @Test("without settings tokens are for authenticated users, whoever issued them")
  func defaults() throws {
    let callers = try makeSettings().callers
    #expect(callers.audiences == ["authenticated"])
    #expect(callers.issuer == nil)
    #expect(callers.keySetCertificates == nil)
  }

  @Test(
    "audiences are separated by commas, and none is empty",
    arguments: [
      ("a", ["a"]), ("a,b", ["a", "b"]), (" a , b c ", ["a", "b c"]), (",", nil), ("a,", nil), ("a,,b", nil),
    ])
  func audiences(text: String, expected: [String]?) throws {
    guard let expected else {
      #expect(problems(["JWT_AUDIENCE": text]).map(\.code) == [.unusable])
      return
    }
    #expect(try makeSettings(["JWT_AUDIENCE": text]).callers.audiences == expected)
  }

  @Test("the issuer is taken as it stands")
  func issuer() throws {
    let issuer = "https://id.example/auth/v1"
    #expect(try makeSettings(["JWT_ISSUER": issuer]).callers.issuer == issuer)
  }

  @Test("the key set's authorities must be there and hold a certificate")
  func authorities() throws {
    let changes = ["JWKS_CA_FILE": "/ca.pem"]
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    #expect(try makeSettings(changes, files: ["/ca.pem": pem]).callers.keySetCertificates == pem)
    #expect(problems(changes).map(\.code) == [.unreadable])
    #expect(problems(changes, files: ["/ca.pem": "der"]).map(\.code) == [.unusable])
  }
}

@Suite("Settings of campaigns")
struct CampaignSettingsTests {
  @Test("every key takes effect")
  func everything() throws {
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
    #expect(settings.minutes == 485)
    #expect(settings.dailyTokensMax == 0)
    #expect(settings.dailyMicrodollarsMax == 500_000)
    #expect(settings.modelProvider == .openai)
    #expect(settings.modelURL?.exposed == "http://127.0.0.1:9/v1")
    #expect(settings.modelKey?.exposed == "sk-1")
    #expect(settings.modelName == "small")
    #expect(settings.modelLimit == .milliseconds(2_500))
    #expect(settings.modelInputPrice == 0.25)
    #expect(settings.modelOutputPrice == 1.5)
    #expect(settings.contentAuthorization?.exposed == "Bearer t-1")
    #expect(settings.allowsPrivateContent)
    #expect(settings.slotPushesPerSecond == 500)
  }

  @Test(
    "what cannot be meant is refused by its name",
    arguments: [
      ("PUSH_TRIGGER_TIME", "24:00"), ("PUSH_TRIGGER_TIME", "10:60"), ("PUSH_TRIGGER_TIME", "9:30"),
      ("PUSH_TRIGGER_TIME", "10"), ("PUSH_TRIGGER_TIME", "10:00:00"), ("LANGUAGE_MODEL_PROVIDER", "abacus"),
      ("LANGUAGE_MODEL_URL", "ftp://host"), ("LANGUAGE_MODEL_URL", "https://host?key=1"),
      ("LANGUAGE_MODEL_KEY", "two words"), ("LANGUAGE_MODEL_MILLISECONDS", "99"),
      ("LANGUAGE_MODEL_MILLISECONDS", "60001"), ("LANGUAGE_MODEL_INPUT_DOLLARS", "-1"),
      ("LANGUAGE_MODEL_INPUT_DOLLARS", "1."), ("LANGUAGE_MODEL_OUTPUT_DOLLARS", "1.1234567"),
      ("LANGUAGE_MODEL_OUTPUT_DOLLARS", "10001"), ("LANGUAGE_MODEL_DAILY_TOKENS_MAX", "-1"),
      ("LANGUAGE_MODEL_DAILY_DOLLARS_MAX", "ten"), ("CONTENT_AUTHORIZATION", "two  blanks"),
      ("CONTENT_AUTHORIZATION", "Bearer tökén"), ("CONTENT_AUTHORIZATION", "a\tb"),
      ("CONTENT_PRIVATE_ADDRESSES", "1.0"), ("SLOT_PUSHES_PER_SECOND", "0"), ("SLOT_PUSHES_PER_SECOND", "100001"),
    ])
  func unusable(key: String, value: String) {
    #expect(problems([key: value]).map(\.key) == [key])
  }

  @Test(
    "edges are meant",
    arguments: [
      ("PUSH_TRIGGER_TIME", "00:00"), ("PUSH_TRIGGER_TIME", "23:59"), ("LANGUAGE_MODEL_MILLISECONDS", "100"),
      ("LANGUAGE_MODEL_MILLISECONDS", "60000"), ("LANGUAGE_MODEL_OUTPUT_DOLLARS", "0.123456"),
      ("LANGUAGE_MODEL_OUTPUT_DOLLARS", "10000"), ("LANGUAGE_MODEL_DAILY_DOLLARS_MAX", "0"),
      ("SLOT_PUSHES_PER_SECOND", "1"), ("SLOT_PUSHES_PER_SECOND", "100000"),
    ])
  func edges(key: String, value: String) {
    #expect(problems([key: value]).isEmpty)
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

  @Test("a look into the database goes through a pooler too")
  func pooled() throws {
    let pooled = try CommandSettings(
      environment: ["DATABASE_URL": "postgres://h", "DATABASE_POOL_MODE": "transaction"], needsSession: false,
      readFile: makeFiles([:]))
    #expect(pooled.database.poolMode == .transaction)
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
