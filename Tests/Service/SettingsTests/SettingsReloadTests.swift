import Cryptography
import PushRules
import Testing

@testable import Settings

@Suite("Settings that are read again")
struct SettingsReloadTests {
  private static let otherKey = P256PrivateKey().pem
  private static let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
  private static let base: [String: String?] = [
    "TACET_CONFIG": "/f", "APNS_PRIVATE_KEY": nil, "APNS_PRIVATE_KEY_FILE": "/a.p8", "APNS_CA_FILE": "/ca.pem",
  ]

  /// The settings before and after the settings file of two apps becomes another, and files and variables with it.
  private func settings(
    _ file: String = "[app b]", files: [String: String] = [:], variables: [String: String?] = [:]
  ) throws -> (before: ServeSettings, after: ServeSettings) {
    let before = ["/f": "[app b]", "/a.p8": signingKeyPEM, "/ca.pem": Self.certificate]
    let after = before.merging(["/f": file]) { $1 }.merging(files) { $1 }
    return (
      try makeSettings(Self.base, files: before), try makeSettings(Self.base.merging(variables) { $1 }, files: after)
    )
  }

  @Test("the same again is no change, however it is written")
  func same() throws {
    for (before, after) in [
      try settings(), try settings("# ours\n[ app b ]\nAPNS_ENVIRONMENT=production\n"),
      try settings(files: ["/a.p8": signingKeyPEM + "\n"]),
      try settings(files: ["/g.pem": Self.certificate], variables: ["APNS_CA_FILE": "/g.pem"]),
    ] {
      #expect(after.keysNeedingRestart(since: before) == [])
      #expect(before.apns.signing(like: after.apns) == before.apns)
    }
  }

  @Test("another key in the same file is followed by all who sign with it, and by nobody else")
  func keyFile() throws {
    let (before, after) = try settings(files: ["/a.p8": Self.otherKey])
    #expect(after.keysNeedingRestart(since: before) == [])
    #expect(before.apns.signing(like: after.apns) == after.apns)
    let own = "[app b]\nAPNS_KEY_ID=KEY0000009\nAPNS_PRIVATE_KEY_FILE=/b.p8"
    let (_, one) = try settings(own, files: ["/b.p8": Self.otherKey])
    let keys = before.apns.signing(like: one.apns).apps.map(\.key)
    #expect(keys[0] == before.apns.apps[0].key && keys[1] == one.apns.apps[1].key)
    #expect(one.keysNeedingRestart(since: before) == [])
  }

  @Test("what else is said of apps needs a restart, and keys are followed beside it")
  func apps() throws {
    let (before, after) = try settings("[app c]\n[app a]", files: ["/a.p8": Self.otherKey])
    #expect(after.keysNeedingRestart(since: before) == ["[app c]", "[app a]", "[app b]"])
    let signing = before.apns.signing(like: after.apns).apps
    #expect(signing.map(\.bundleIdentifier) == before.apns.apps.map(\.bundleIdentifier))
    #expect(signing[0].key == after.apns.apps[0].key && signing[1].key == before.apns.apps[1].key)
  }

  @Test(
    "the settings of apps that need a restart are named",
    arguments: [
      ("[app b]\nAPNS_ENVIRONMENT=sandbox", [:], ["APNS_ENVIRONMENT"]), ("[app b]\nCONTENT=none", [:], ["CONTENT"]),
      ("[app b]", ["CONTENT": "none"], ["CONTENT"]),
      ("[app b]", ["APNS_BUNDLE_ID": "b"], ["[app com.example.app]", "APNS_BUNDLE_ID"]),
      ("[app b]", ["APNS_URL": "https://127.0.0.1:1"], ["APNS_URL"]),
      ("[app b]", ["APNS_SANDBOX_URL": "https://127.0.0.1:1"], ["APNS_SANDBOX_URL"]),
      ("[app b]", ["APNS_CA_FILE": nil], ["APNS_CA_FILE"]),
      ("[app b]", ["APNS_CA_FILE": "/other.pem"], ["APNS_CA_FILE"]),
    ] as [(String, [String: String?], [String])])
  func restartOfApps(file: String, variables: [String: String?], names: [String]) throws {
    let other = Self.certificate.replacingOccurrences("AAAA", "BBBB")
    let (before, after) = try settings(file, files: ["/other.pem": other], variables: variables)
    #expect(after.keysNeedingRestart(since: before) == names)
  }

  /// Another usable value for each key that is fixed at the start, but those of apps.
  private static let fixed: [String: String] = [
    "DATABASE_URL": "postgresql://other", "DATABASE_POOL_MODE": "transaction",
    "IDLE_MODE": "webhook", "IDLE_SECONDS": "1",
    "LISTEN_ADDRESS": "127.0.0.1:1",
    "METRICS_ADDRESS": "127.0.0.1:2", "WEBHOOK_SECRET": String(repeating: "o", count: 24),
    "WEBHOOK_WAIT_MILLISECONDS": "1",
    "SERVICE_KEY": String(repeating: "o", count: 24),
    "JWT_SECRET": String(repeating: "o", count: 32), "JWKS_URL": "https://other", "JWKS_CA_FILE": "/own.pem",
    "JWT_AUDIENCE": "other", "JWT_ISSUER": "https://other", "SUPPRESSION_WINDOW_SECONDS": "1",
    "MESSAGE_TTL_SECONDS": "1", "FOLD_WINDOW_SECONDS": "1",
    "RETENTION_DAYS": "400", "DEVICES_PER_USER_MAX": "1", "BADGE_MAX": "1", "PUSH_TRIGGER_ENABLED": "true",
    "READ_SYNC_ENABLED": "false",
    "REACTORS": "1", "DRAIN_SECONDS": "1", "PUSH_TRIGGER_TIME": "09:30", "LANGUAGE_MODEL_PROVIDER": "openai",
    "LANGUAGE_MODEL_URL": "https://other", "LANGUAGE_MODEL_KEY": "other", "LANGUAGE_MODEL_NAME": "other",
    "LANGUAGE_MODEL_CA_FILE": "/own.pem", "LANGUAGE_MODEL_MILLISECONDS": "100", "LANGUAGE_MODEL_INPUT_DOLLARS": "2",
    "LANGUAGE_MODEL_OUTPUT_DOLLARS": "2", "LANGUAGE_MODEL_DAILY_TOKENS_MAX": "1",
    "LANGUAGE_MODEL_DAILY_DOLLARS_MAX": "1", "CONTENT_AUTHORIZATION": "Bearer other",
    "CONTENT_PRIVATE_ADDRESSES": "true", "SLOT_PUSHES_PER_SECOND": "1",
    "SHADOW": "message", "LOG_LEVEL": "error", "LOG_FORMAT": "json",
    "VAPID_SUBJECT": "mailto:ops@example.com", "WEB_PUSH_URL": "https://chat.example.com/",
    "WEB_PUSH_HOSTS": "127.0.0.1:1",
    "WEB_PUSH_CA_FILE": "/own.pem", "FCM_MESSAGES": "data", "FCM_CHANNEL_ID": "other", "FCM_URL": "https://other",
    "FCM_CA_FILE": "/own.pem",
    "EVENTS_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "EVENTS_RETRY_HOURS": "1", "EVENTS_CA_FILE": "/own.pem",
    "CORS_ORIGINS": "https://other.example", "LISTEN_SOCKET_MODE": "0600", "TRUSTED_PROXIES": "::1",
    "TRUSTED_PROXY_HEADER": "forwarded",
    "HTTP_CONNECTIONS_MAX": "1",
    "HTTP_PEER_CONNECTIONS_MAX": "1", "HTTP_CONNECTION_REQUESTS_MAX": "1", "HTTP_REQUEST_LINE_BYTES_MAX": "1000",
    "HTTP_HEADER_COUNT_MAX": "10", "HTTP_HEADER_BYTES_MAX": "1000", "HTTP_BODY_BYTES_MAX": "2000",
    "HTTP_BODY_BYTES_PER_SECOND_MIN": "1",
    "HTTP_HEADER_SECONDS": "1", "HTTP_BODY_SECONDS": "1", "HTTP_IDLE_SECONDS": "1", "HTTP_WRITE_SECONDS": "1",
  ]

  /// Followed at run time; ``HTTPSettingsTests`` looks at them, since they come together.
  private static let certificates: Set<String> = ["TLS_CERTIFICATE_FILE", "TLS_KEY_FILE"]

  /// Those whose values bring others with them; ``ChannelSettingsTests`` and ``EventSettingsTests`` look at them.
  private static let switches: Set<String> = [
    "VAPID_PRIVATE_KEY", "VAPID_PRIVATE_KEY_FILE", "FCM_SERVICE_ACCOUNT", "FCM_SERVICE_ACCOUNT_FILE",
    "EVENTS_URL",
  ]

  @Test("every key is either followed at run time or named as needing a restart", arguments: SettingNames.texts)
  func restart(key: String) throws {
    let start = try makeSettings(["LANGUAGE_MODEL_KEY": "key"])
    #expect(try makeSettings(["LANGUAGE_MODEL_KEY": "key"]).keysNeedingRestart(since: start) == [])
    guard let value = Self.fixed[key] else {
      #expect(
        key.hasPrefix("APNS_") || ["TACET_CONFIG", "CONTENT"].contains(key) || Self.certificates.contains(key)
          || Self.switches.contains(key))
      return
    }
    let changes = ["LANGUAGE_MODEL_KEY": "key"].merging([key: value]) { $1 }
    let now = try makeSettings(changes, files: ["/own.pem": Self.certificate])
    #expect(now.keysNeedingRestart(since: start) == [key])
  }
}

extension String {
  /// With one text in the place of another.
  fileprivate func replacingOccurrences(_ old: String, _ new: String) -> String {
    split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
  }
}
