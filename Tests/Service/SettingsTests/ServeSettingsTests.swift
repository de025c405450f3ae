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
